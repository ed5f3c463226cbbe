#include "planner/io/checkpoint.hpp"

#include "planner/io/archive.hpp"
#include "planner/io/epoch_history.hpp"
#include "planner/io/float_values.hpp"
#include "planner/io/parse.hpp"
#include "planner/io/safetensors.hpp"
#include "planner/io/schema.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace gnnplan::io {

template <class Archive>
void describe(Archive& archive, Subject<Archive, TuningLog::Built>& built) {
    archive.field("epoch", built.epoch);
    archive.field("seconds", built.seconds);
    archive.field("cut_seconds", built.cut_seconds);
}

template <class Archive>
void describe(Archive& archive, Subject<Archive, TuningLog>& log) {
    archive.field("plan", log.plan);
    archive.optional("run", log.run);
    archive.field("candidates", log.candidates);
    archive.field("epochs", log.epochs);
    archive.positive("first", log.first);
    archive.optional("asked", log.asked);
    archive.field("built", log.built);
}

namespace {

constexpr const char* manifest_key = "checkpoint";
constexpr const char* hash_name = "hash.xxh3";
constexpr std::string_view parameters = "layers.";
constexpr std::array<std::string_view, 2> means_of_squares = {".exp_avg_sq", ".square_avg"};

StoredTensor stored(const NamedTensor& tensor) {
    const auto& values = tensor.values;
    return {tensor.name,
            "F32",
            tensor.shape,
            {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}};
}

// A tensor of a checkpoint, which holds what training can go on from.
NamedTensor state_of(const StoredTensor& tensor, const std::string& where) {
    if (tensor.type != "F32") {
        throw Error(ErrorCode::data, "tensor " + in_quotes(tensor.name) + " is of type " + tensor.type + ", not F32",
                    where);
    }
    NamedTensor state{tensor.name, tensor.shape, float_values(tensor, where)};
    for (const std::string_view mean : means_of_squares)
        if (state.name.ends_with(mean)) refuse_negative(state.name, state.values, where);
    return state;
}

std::string hash_of(std::string_view bytes) {
    const std::uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
    std::string text;
    for (unsigned shift = 64; shift > 0; shift -= 8) text += static_cast<char>(hash >> (shift - 8) & 0xFFU);
    return text;
}

std::string write_manifest(const Checkpoint& checkpoint) {
    Writer writer;
    writer.field("schema", checkpoint_schema);
    writer.field("tool_version", checkpoint.tool_version);
    writer.field("command_line", checkpoint.command_line);
    writer.field("epoch", checkpoint.state.epoch);
    writer.field("tuning", checkpoint.state.tuning);
    writer.optional("best_by", checkpoint.state.best_by);
    Document manifest = writer.take();
    Document facts = Document::object();
    for (const auto& [name, value] : checkpoint.facts) facts.set(name, value);
    manifest.set("run", std::move(facts));
    return dump(manifest);
}

Checkpoint read_manifest(const std::string& text, const std::string& where) {
    const Document document = parse(text, where);
    const Cursor root(document, where);
    expect_schema(root, checkpoint_schema);
    Reader reader(root);
    reader.member("schema");
    Checkpoint checkpoint;
    reader.field("tool_version", checkpoint.tool_version);
    reader.field("command_line", checkpoint.command_line);
    reader.positive("epoch", checkpoint.state.epoch);
    reader.field("tuning", checkpoint.state.tuning);
    reader.optional("best_by", checkpoint.state.best_by);
    const Cursor facts = reader.member("run");
    if (facts.document().get_if<Document::Object>() == nullptr) facts.fail("expected an object of texts");
    for (const auto& [name, value] : facts.members()) checkpoint.facts.emplace_back(name, value.string());
    reader.finish();
    return checkpoint;
}

}  // namespace

std::string write_checkpoint(const Checkpoint& checkpoint) {
    Safetensors content;
    content.metadata.emplace_back(manifest_key, write_manifest(checkpoint));
    const EpochHistory history(checkpoint.state);
    content.tensors = history.tensors();
    for (const NamedTensor& tensor : checkpoint.state.tensors) content.tensors.push_back(stored(tensor));
    const std::string room(sizeof(std::uint64_t), '\0');
    content.tensors.push_back({hash_name, "U8", {static_cast<std::int64_t>(room.size())}, room});
    std::string file = write_safetensors(content);
    file.resize(file.size() - room.size());
    return file + hash_of(file);
}

namespace {

const std::string* manifest_of(const Safetensors& content) {
    const auto found = std::find_if(content.metadata.begin(), content.metadata.end(),
                                    [](const auto& entry) { return entry.first == manifest_key; });
    return found == content.metadata.end() ? nullptr : &found->second;
}

void check_hash(std::string_view file, const std::string& where) {
    const std::size_t hashed = file.size() - std::min(file.size(), sizeof(std::uint64_t));
    if (hash_of(file.substr(0, hashed)) != file.substr(hashed)) {
        throw Error(ErrorCode::data, "is no checkpoint, or was cut or altered: its hash does not match", where);
    }
}

}  // namespace

Checkpoint read_checkpoint(std::string_view file, const std::string& where) {
    check_hash(file, where);
    const Safetensors content = read_safetensors(file, where);
    const std::string* manifest = manifest_of(content);
    if (manifest == nullptr) throw Error(ErrorCode::data, "holds weights, but is no checkpoint", where);
    Checkpoint checkpoint = read_manifest(*manifest, where);
    EpochHistory history;
    for (const StoredTensor& tensor : content.tensors) {
        if (history.take(tensor, where) || tensor.name == hash_name) continue;
        checkpoint.state.tensors.push_back(state_of(tensor, where));
    }
    history.give_to(checkpoint.state, where);
    return checkpoint;
}

namespace {

// Facts among the metadata of others.
constexpr std::string_view fact_mark = "gnnplan: ";

}  // namespace

std::string write_weights(const std::vector<NamedTensor>& tensors, const WeightFacts& facts) {
    Safetensors content;
    content.metadata.emplace_back("format", "pt");  // what PyTorch's own files say, and some readers look for
    for (const auto& [name, value] : facts) content.metadata.emplace_back(std::string(fact_mark) + name, value);
    for (const NamedTensor& tensor : tensors) content.tensors.push_back(stored(tensor));
    return write_safetensors(content);
}

WeightFacts facts_of_weights(std::string_view file, const std::string& where) {
    WeightFacts facts;
    for (const auto& [name, value] : read_safetensors(file, where).metadata) {
        if (name.starts_with(fact_mark)) facts.emplace_back(name.substr(fact_mark.size()), value);
    }
    return facts;
}

namespace {

// "layers 128x256, 256x40 with biases"
std::string layers_text(const std::vector<NamedTensor>& tensors) {
    constexpr int most = 32;
    std::string text;
    bool biases = false;
    int matrices = 0;
    for (const NamedTensor& tensor : tensors) {
        if (!tensor.name.starts_with(parameters)) continue;
        biases = biases || tensor.name.ends_with(".bias");
        if (!tensor.name.ends_with(".weight") || tensor.shape.size() != 2) continue;
        if (++matrices > most) continue;
        text +=
            (text.empty() ? "layers " : ", ") + std::to_string(tensor.shape[0]) + "x" + std::to_string(tensor.shape[1]);
    }
    if (matrices > most) text += " and " + std::to_string(matrices - most) + " more";
    return text + (biases ? " with biases" : "");
}

bool is_checkpoint(const Safetensors& content) {
    return manifest_of(content) != nullptr ||
           std::any_of(content.tensors.begin(), content.tensors.end(),
                       [](const StoredTensor& tensor) { return tensor.name == hash_name; });
}

}  // namespace

TensorsContent read_content(std::string_view file, const std::string& where) {
    if (!is_checkpoint(read_safetensors(file, where))) return {"", layers_text(read_weights(file, where)), {}};
    Checkpoint checkpoint = read_checkpoint(file, where);
    const std::size_t before = checkpoint.state.runs_before.size();
    const std::string text = (before > 0 ? "run " + std::to_string(before + 1) + " of several seeds, " : "") +
                             "epoch " + std::to_string(checkpoint.state.epoch) + ", " +
                             layers_text(checkpoint.state.tensors);
    return {checkpoint_schema, text, std::move(checkpoint.facts)};
}

namespace {

// Lists the first tensors, whichever program named them: "\"conv1.lin.weight\" 16 x 8, ...".
std::string tensors_text(const Safetensors& content) {
    constexpr std::size_t shown = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, content.tensors.size()); ++i) {
        const StoredTensor& tensor = content.tensors[i];
        text += (i == 0 ? "" : ", ") + in_quotes(tensor.name);
        for (std::size_t d = 0; d < tensor.shape.size(); ++d)
            text += (d == 0 ? " " : " x ") + std::to_string(tensor.shape[d]);
    }
    if (content.tensors.size() > shown) text += " and " + std::to_string(content.tensors.size() - shown) + " more";
    return text.empty() ? "no tensors" : text;
}

}  // namespace

std::vector<NamedTensor> read_weights(std::string_view file, const std::string& where) {
    const Safetensors content = read_safetensors(file, where);
    std::vector<NamedTensor> weights;
    for (const StoredTensor& tensor : content.tensors) {
        if (tensor.name.starts_with(parameters))
            weights.push_back({tensor.name, tensor.shape, float_values(tensor, where)});
    }
    if (is_checkpoint(content)) check_hash(file, where);
    if (weights.empty()) {
        throw Error(
            ErrorCode::data, "holds no weights: no tensor is called layers.1.weight or alike", where,
            "it holds " + tensors_text(content) + "; docs/models.md has the names of PyTorch Geometric and DGL");
    }
    return weights;
}

}  // namespace gnnplan::io
