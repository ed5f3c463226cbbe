#include "planner/io/checkpoint.hpp"

#include "planner/io/archive.hpp"
#include "planner/io/parse.hpp"
#include "planner/io/safetensors.hpp"
#include "planner/io/schema.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

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
    archive.field("candidates", log.candidates);
    archive.field("epochs", log.epochs);
    archive.positive("first", log.first);
    archive.optional("asked", log.asked);
    archive.field("built", log.built);
}

namespace {

constexpr const char* manifest_key = "checkpoint";
constexpr const char* hash_name = "hash.xxh3";
constexpr std::string_view history = "history.";
constexpr std::string_view parameters = "layers.";

// The series that are kept of epochs, and where a record holds each; an accuracy that was not taken is a NaN.
using Series = std::vector<double>;
const std::array<const char*, 5> series_names{"loss", "seconds", "train_accuracy", "valid_accuracy", "test_accuracy"};

std::array<Series, 5> series_of(const std::vector<EpochRecord>& epochs) {
    std::array<Series, 5> series;
    const auto value_of = [](const std::optional<double>& accuracy) {
        return accuracy.value_or(std::numeric_limits<double>::quiet_NaN());
    };
    for (const EpochRecord& e : epochs) {
        const std::array<double, 5> values{e.loss, e.seconds, value_of(e.train_accuracy), value_of(e.valid_accuracy),
                                           value_of(e.test_accuracy)};
        for (std::size_t i = 0; i < values.size(); ++i) series[i].push_back(values[i]);
    }
    return series;
}

std::vector<EpochRecord> epochs_of(const std::array<Series, 5>& series) {
    std::vector<EpochRecord> epochs;
    const auto accuracy = [](double value) { return std::isnan(value) ? std::nullopt : std::optional(value); };
    for (std::size_t i = 0; i < series[0].size(); ++i) {
        epochs.push_back({static_cast<std::int64_t>(i) + 1, series[0][i], accuracy(series[2][i]),
                          accuracy(series[3][i]), accuracy(series[4][i]), series[1][i]});
    }
    return epochs;
}

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::vector<T> values_of(const StoredTensor& tensor) {
    std::vector<T> values(tensor.bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(T));
    return values;
}

StoredTensor stored(const NamedTensor& tensor) { return {tensor.name, "F32", tensor.shape, bytes_of(tensor.values)}; }

NamedTensor floats_of(const StoredTensor& tensor, const std::string& where) {
    if (tensor.type != "F32") {
        throw Error(ErrorCode::data, "tensor " + in_quotes(tensor.name) + " is of type " + tensor.type + ", not F32",
                    where);
    }
    return {tensor.name, tensor.shape, values_of<float>(tensor)};
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
    reader.field("epoch", checkpoint.state.epoch);
    reader.field("tuning", checkpoint.state.tuning);
    const Cursor facts = reader.member("run");
    const auto* members = facts.document().get_if<Document::Object>();
    if (members == nullptr) facts.fail("expected an object of texts");
    for (const auto& [name, value] : *members) checkpoint.facts.emplace_back(name, facts.member(name).string());
    reader.finish();
    return checkpoint;
}

}  // namespace

std::string write_checkpoint(const Checkpoint& checkpoint) {
    Safetensors content;
    content.metadata.emplace_back(manifest_key, write_manifest(checkpoint));
    const auto series = series_of(checkpoint.state.epochs);
    for (std::size_t i = 0; i < series.size(); ++i) {
        content.tensors.push_back({std::string(history) + series_names[i],
                                   "F64",
                                   {static_cast<std::int64_t>(series[i].size())},
                                   bytes_of(series[i])});
    }
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
    std::array<Series, 5> series;
    for (const StoredTensor& tensor : content.tensors) {
        const auto known = std::find_if(series_names.begin(), series_names.end(),
                                        [&](const char* name) { return tensor.name == std::string(history) + name; });
        if (known != series_names.end() && tensor.type == "F64") {
            series[static_cast<std::size_t>(known - series_names.begin())] = values_of<double>(tensor);
        } else if (tensor.name != hash_name) {
            checkpoint.state.tensors.push_back(floats_of(tensor, where));
        }
    }
    for (const Series& s : series) {
        if (std::ssize(s) != checkpoint.state.epoch) {
            throw Error(ErrorCode::data, "the history does not have the epochs that the checkpoint says", where);
        }
    }
    checkpoint.state.epochs = epochs_of(series);
    return checkpoint;
}

std::string write_weights(const std::vector<NamedTensor>& tensors) {
    Safetensors content;
    content.metadata.emplace_back("format", "pt");  // what PyTorch's own files say, and some readers look for
    for (const NamedTensor& tensor : tensors) content.tensors.push_back(stored(tensor));
    return write_safetensors(content);
}

std::vector<NamedTensor> read_weights(std::string_view file, const std::string& where) {
    const Safetensors content = read_safetensors(file, where);
    std::vector<NamedTensor> weights;
    bool is_checkpoint = manifest_of(content) != nullptr;
    for (const StoredTensor& tensor : content.tensors) {
        if (tensor.name.starts_with(parameters)) weights.push_back(floats_of(tensor, where));
        is_checkpoint = is_checkpoint || tensor.name == hash_name;
    }
    if (is_checkpoint) check_hash(file, where);
    if (weights.empty()) {
        throw Error(ErrorCode::data, "holds no weights: no tensor is called layers.1.weight or alike", where);
    }
    return weights;
}

}  // namespace gnnplan::io
