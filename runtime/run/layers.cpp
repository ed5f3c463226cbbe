#include "runtime/run/layers.hpp"

#include "planner/io/checkpoint.hpp"
#include "planner/io/document.hpp"
#include "planner/io/draft.hpp"
#include "planner/io/facts.hpp"
#include "planner/io/files.hpp"
#include "planner/io/fingerprint.hpp"
#include "planner/io/parse.hpp"
#include "runtime/deploy/outputs.hpp"
#include "runtime/run/vertex_matrix.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace gnnplan::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* schema = "gnnplan.layers/1";

bool is_there(const std::string& path) {
    std::error_code none;
    return fs::exists(path, none);
}

// The last layer that is there; earlier ones are not read.
int last_layer_in(const LayerFolder& folder) {
    auto layer = static_cast<int>(folder.columns.size());
    while (layer > 0 && !is_there(folder.file(layer))) --layer;
    return layer;
}

constexpr const char* hashes_key = "hashes";

void write(const LayerFolder& folder, const io::Document& index) {
    io::write_file_atomically(folder.index(), io::dump(index, 2) + "\n");
}

void write_index(const LayerFolder& folder, const std::vector<Fact>& facts) {
    io::Document said = io::Document::object();
    for (const Fact& fact : facts) said.set(fact.name, fact.value);
    const io::Document index = io::Document::object(
        {{"schema", schema}, {"vertices", folder.vertices}, {"columns", folder.columns}, {"of", said}});
    write(folder, index);
}

void compare(const LayerFolder& folder, const std::vector<Fact>& facts) {
    const std::string path = folder.index();
    const io::Document index = io::parse(io::read_file(path), path);
    const io::Document* const said = index.find("of");
    const io::Document* named = index.find("schema");
    if (named == nullptr) named = index.find("format");  // the key in older folders
    if (said == nullptr || named == nullptr || named->get_if<std::string>() == nullptr ||
        *named->get_if<std::string>() != schema) {
        throw Error(ErrorCode::data, "does not say what layers were computed from", path,
                    "remove the folder, or name another one with `save-layers`");
    }
    for (const Fact& fact : facts) {
        const io::Document* const then = said->find(fact.name);
        const std::string* const value = then != nullptr ? then->get_if<std::string>() : nullptr;
        if (value != nullptr && *value == fact.value) continue;
        throw Error(ErrorCode::mismatch,
                    fmt::format("the layers there are of another pass: {}: {} then, {} now", io::fact_text(fact.name),
                                value != nullptr ? *value : "not said", fact.value),
                    folder.path, "name another folder with `save-layers`, or remove this one");
    }
}

}  // namespace

bool same_folder(const std::string& a, const std::string& b) {
    std::error_code none;
    return a == b || fs::weakly_canonical(a + "/.", none) == fs::weakly_canonical(b + "/.", none);
}

std::string LayerFolder::file(int layer) const { return fmt::format("{}/layer-{}.npy", path, layer); }

std::optional<LayerFolder> layer_folder(const Settings& settings, const Plan& plan) {
    if (plan.problem.task != Task::infer || (!settings.save_layers && !settings.resume)) return std::nullopt;
    const bool automatic = settings.resume == resume_if_there;
    if (automatic && !settings.save_layers) {
        throw Error(ErrorCode::usage, "goes on from the layers in the folder of `save-layers`, which is not there",
                    "`resume auto`", "name the folder");
    }
    if (settings.resume && !automatic && settings.save_layers &&
        !same_folder(*settings.resume, *settings.save_layers)) {
        throw Error(ErrorCode::usage, "a pass goes on in the folder that it saves its layers in", "`resume`",
                    "leave out `save-layers`");
    }
    LayerFolder folder;
    folder.path = settings.save_layers ? *settings.save_layers : *settings.resume;
    folder.vertices = plan.problem.graph.vertices;
    folder.resumes = settings.resume.has_value();
    folder.resumes_if_there = automatic;
    const Schedule& schedule = plan.candidates.front().schedule;
    for (const deploy::LayerEnd& end : deploy::layer_ends(schedule))
        folder.columns.push_back(tensor_of(schedule, end.tensor).columns);
    return folder;
}

void check_layer_folder(const LayerFolder& folder, FolderLock& lock, Observer& observer) {
    if (folder.resumes && !folder.resumes_if_there && !is_there(folder.index()))
        throw Error(ErrorCode::missing_input, "holds no layers of an earlier pass", folder.path);
    if (is_there(folder.index()) && !fs::is_regular_file(folder.index()))
        throw Error(ErrorCode::data, "is no regular file", folder.index(),
                    "remove it, or name another folder with `save-layers`");
    if (const auto note = lock.make_and_take(folder.path)) observer.note("note: " + *note);
    if (!folder.resumes && is_there(folder.index())) {
        throw Error(ErrorCode::usage, "holds layers of an earlier pass", folder.path,
                    "`resume auto` goes on from them; else remove them, or name another folder with `save-layers`");
    }
    if (const int layer = last_layer_in(folder); layer > 0 && !is_there(folder.index())) {
        throw Error(ErrorCode::data, "is there, and no layers.json that says what it was computed from",
                    folder.file(layer), "remove it, or name another folder with `save-layers`");
    }
    io::remove_leftovers(folder.path, [](std::string_view file) { return file.starts_with("layer"); });
    io::check_can_create(folder.index());
}

int open_layers(const LayerFolder& folder, const std::vector<Fact>& facts) {
    if (!is_there(folder.index())) {
        write_index(folder, facts);
        return 0;
    }
    compare(folder, facts);
    const int layers = last_layer_in(folder);
    if (layers == 0) return 0;
    try {
        const VertexMatrixFile last(folder.file(layers), folder.vertices,
                                    folder.columns[static_cast<std::size_t>(layers - 1)]);
    } catch (const Error& error) {
        throw Error(error.code(), error.what(), "", "remove it to go on from the layer before");
    }
    return layers;
}

void note_layer(const LayerFolder& folder, int layer, const std::string& hash) {
    io::Document index = io::parse(io::read_file(folder.index()), folder.index());
    if (index.find(hashes_key) == nullptr) index.set(hashes_key, io::Document::object());
    index.find(hashes_key)->set(fs::path(folder.file(layer)).filename().string(), hash);
    write(folder, index);
}

void check_layer(const LayerFolder& folder, int layer, const std::string& hash) {
    const std::string path = folder.file(layer);
    const io::Document index = io::parse(io::read_file(folder.index()), folder.index());
    const io::Document* const hashes = index.find(hashes_key);
    const io::Document* const noted = hashes == nullptr ? nullptr : hashes->find(fs::path(path).filename().string());
    if (noted == nullptr) return;
    const std::string* const then = noted->get_if<std::string>();
    if (then != nullptr && *then == hash) return;
    throw Error(ErrorCode::data, "its values are not those that were written", path,
                "remove it to go on from the layer before");
}

std::vector<Fact> facts_of_layers(const Settings& settings, const std::vector<NamedTensor>* weights, const Plan& plan,
                                  const std::string& graph, const std::string& features) {
    const ProblemRecord& problem = plan.problem;
    std::vector<Fact> facts = facts_of_model(settings, problem);
    const std::string drawn = problem.fanout.empty()
                                  ? "all"
                                  : fmt::format("{} from seed {}", fmt::join(problem.fanout, ","), problem.graph.seed);
    const std::string generated = fmt::format("generated from seed {}", problem.graph.seed);
    const std::string whose = weights != nullptr ? io::fingerprint(io::write_weights(*weights)) : "of nobody";
    const bool rounds =
        std::ranges::any_of(plan.candidates, [](const Candidate& c) { return !exact(c.configuration); });
    for (const Fact& fact : {Fact{"the operands", rounds ? "rounded to bf16" : "fp32"}, Fact{"the graph", graph},
                             Fact{"the features", features.empty() ? generated : features},
                             Fact{io::option_fact("feature-norm"), name_of(settings.feature_norm)},
                             Fact{"the weights", whose}, Fact{"the neighbours", drawn}}) {
        facts.push_back(fact);
    }
    return facts;
}

}  // namespace gnnplan::run
