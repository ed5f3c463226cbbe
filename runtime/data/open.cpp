// How a data set comes to be: its graph is prepared, and what it lacks is generated.
#include "runtime/data/dataset.hpp"
#include "runtime/data/loan.hpp"
#include "runtime/data/origin.hpp"
#include "runtime/generate/generated.hpp"
#include "runtime/graph/fingerprint.hpp"
#include "runtime/read/readers.hpp"
#include "runtime/sample/neighbours.hpp"

#include <gnnplan/base/error.hpp>

#include <utility>

namespace gnnplan::data {
namespace {

// Sizes beyond these are slips of a finger, and would take all memory.
constexpr std::int64_t largest_width = std::int64_t{1} << 24;

void check_options(const DatasetOptions& options) {
    const auto check = [](std::int64_t width, const char* what) {
        if (width < 0 || width > largest_width) {
            throw Error(ErrorCode::usage,
                        std::to_string(width) + " " + what + " to generate: between 0 and 2^24 are possible");
        }
    };
    check(options.generate_features, "features");
    check(options.generate_classes, "classes");
}

Graph prepare(ParsedGraph& parsed, const Preparation& preparation, LoadReport& report) {
    PreparationCounts counts;
    Graph graph;
    try {
        graph = build_graph(std::move(parsed.edges), parsed.vertices, preparation, counts);
    } catch (const Error& error) {
        throw Error(error.code(), error.what(), report.path);
    }
    report.directed = counts.directed;
    report.symmetrised = preparation.symmetrise && counts.directed;
    report.self_loops_added = preparation.add_self_loops;
    report.self_loops_dropped = counts.self_loops_dropped;
    report.duplicates_dropped = counts.duplicates_dropped;
    report.weighted = preparation.edge_weights;
    report.weights_only_directed = counts.weights_only;
    report.nonzeros = graph.nonzeros();
    if (parsed.undirected > 0 && counts.directed && !preparation.symmetrise) {
        report.hints.push_back("the file calls " + std::to_string(parsed.undirected) +
                               " of its edges undirected; `symmetrise` adds their reverses");
    } else if (counts.one_way && !preparation.symmetrise) {
        report.hints.emplace_back("no edge comes with its reverse; `symmetrise` if undirected");
    }
    return graph;
}

// How many vertices have an edge to another one.
std::int64_t with_edges(const Graph& graph, bool self_loops) {
    const std::int64_t own = self_loops ? 1 : 0;
    std::int64_t count = 0;
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
        const bool has_some = graph.out.degree(v) > own || (!graph.symmetric && graph.in.degree(v) > own);
        count += has_some ? 1 : 0;
    }
    return count;
}

void remark_sizes(const ParsedGraph& parsed, const Graph& graph, LoadReport& report) {
    SaidSizes said = parsed.said;
    // With ids from 1, the largest id is the declared number, and one more vertex is counted.
    if (parsed.from_one && parsed.vertices == said.nodes + 1) said.nodes = parsed.vertices;
    const bool strange = report.remark_sizes(said, said.from_ids ? with_edges(graph, report.self_loops_added) : 0);
    if (parsed.from_one && !strange)
        report.hints.insert(report.hints.begin(), "vertex 0 has no edges: ids from 1? (`index-base 1`)");
}

// Features of the file, or generated ones; null when there are neither.
std::unique_ptr<FeatureSource> choose_features(std::unique_ptr<FeatureSource> own, const DatasetOptions& options,
                                               LoadReport& report) {
    const std::int64_t asked = options.generate_features;
    if (own != nullptr && asked > 0 && asked != own->columns()) {
        throw Error(ErrorCode::usage,
                    std::to_string(asked) + " features asked for, but the data has " + std::to_string(own->columns()) +
                        " of its own",
                    report.path);
    }
    if (own != nullptr || asked == 0) return own;
    report.features_generated = true;
    report.generated.push_back(std::to_string(asked) + " features (uniform in [-1, 1))");
    return generate_features(options.seed, asked);
}

void complete_supervision(Supervision& supervision, const FeatureSource* features, const DatasetOptions& options,
                          LoadReport& report) {
    if (!supervision.has_labels() && options.generate_classes > 0) {
        if (features == nullptr) {
            throw Error(ErrorCode::usage, "labels are generated from features, and there are none", report.path,
                        "give `features`, too");
        }
        const std::int64_t classes = options.generate_classes;
        if (options.generate_several) {
            supervision.bits = generate_label_bits(options.seed, *features, report.vertices, classes);
        } else {
            supervision.label = generate_labels(options.seed, *features, report.vertices, classes);
        }
        report.labels_generated = true;
        report.generated.push_back(std::to_string(classes) +
                                   (options.generate_several ? " labels a vertex (signs of a linear map of features)"
                                                             : " classes (a linear map of features)"));
    }
    if (supervision.subset.empty() && supervision.has_labels()) {
        supervision.subset = generate_split(options.seed, supervision.vertices(),
                                            [&](std::int64_t v) { return supervision.is_labelled(v); });
        report.split_generated = true;
        report.generated.emplace_back("a 60/20/20 split");
    }
}

// Labels and split if the data has both. Whoever asks for accuracies alone can do without them.
Supervision read_where_there(const Origin& origin, const DatasetOptions& options, LoadReport& report) {
    try {
        Supervision found = origin.read_supervision(options.split, report.vertices);
        if (found.has_labels() && !found.subset.empty()) return found;
    } catch (const Error& error) {
        report.remarks.push_back("no accuracies: " + std::string(error.what()));
    }
    return {};
}

}  // namespace

Dataset::Dataset(Origin origin, const DatasetOptions& options) : options_(options) {
    report_.path = origin.where;
    report_.seed = options_.seed;
    if (in_shares()) {
        report_.vertices = options_.in_shares;
        fingerprint_ = options_.expected_fingerprint;
    } else {
        read_graph(std::move(origin.graph));
    }
    if (options_.graph_only) return;
    if (origin.leftovers) report_.leftovers = origin.leftovers(report_.vertices);
    if (!report_.leftovers.unread.empty()) report_.notes.push_back("Not read: " + report_.leftovers.names() + ".");
    read_vertices(origin);
}

void Dataset::read_graph(ParsedGraph parsed) {
    report_.format = parsed.format;
    report_.index_base = parsed.index_base;
    report_.vertices = parsed.vertices;
    report_.edges_read = parsed.edges_read;
    report_.text = parsed.text;
    report_.divisible = parsed.divisible;
    report_.edge_values_ignored = parsed.edge_values_ignored;
    report_.hints = std::move(parsed.hints);
    report_.remarks = std::move(parsed.remarks);
    graph_ = prepare(parsed, options_.preparation, report_);
    remark_sizes(parsed, graph_, report_);
    fingerprint_ = data::fingerprint(graph_);
    if (options_.check_graph) options_.check_graph(*this);
    graph_.drawn =
        sample::draw_neighbours(graph_.matrix(forward_matrix), options_.fanout, options_.seed, options_.drawn_weighted);
}

ParsedGraph Dataset::read_share(const FileShare& share, const EdgeList::Take& take) const {
    const std::filesystem::path path = report_.path;
    ParsedGraph found = data::read_graph(find_reader(path), path,
                                         {options_.index_base, options_.preparation.edge_weights, share, take});
    found.edges.hand_on();
    return found;
}

void Dataset::read_vertices(const Origin& origin) {
    feature_norm_ = options_.feature_norm;
    features_ = choose_features(origin.open_features(report_.vertices), options_, report_);
    if (options_.supervised == Supervised::no) return;
    Supervision supervision;
    if (options_.supervised == Supervised::where_there) {
        supervision = read_where_there(origin, options_, report_);
    } else {
        supervision = origin.read_supervision(options_.split, report_.vertices);
        complete_supervision(supervision, features_.get(), options_, report_);
        if (supervision.has_labels()) classes_ = check_classes(supervision, options_.generate_classes, report_.path);
        if (supervision.has_labels() && options_.supervised == Supervised::yes)
            check_train_set(supervision, report_.path);
        if (const std::string doubt = doubtful_classes(supervision); !doubt.empty() && !report_.labels_generated)
            report_.hints.push_back(doubt);
    }
    labels_ = std::move(supervision.label);
    label_bits_ = std::move(supervision.bits);
    subset_ = std::move(supervision.subset);
    count_subsets();
}

void Dataset::count_subsets() {
    const bool all = label_bits_.all_known();
    for (std::size_t v = 0; v < subset_.size(); ++v) {
        const std::uint8_t subset = subset_[v];
        if (subset >= std::size(subset_size_)) continue;
        ++subset_size_[subset];
        std::int64_t known = 0;
        if (!label_bits_.empty()) {
            known = all ? label_bits_.columns : label_bits_.known_of(static_cast<std::int64_t>(v));
        } else if (!labels_.empty()) {
            known = labels_[v] >= 0 ? 1 : 0;
        }
        known_[subset] += known;
        labelled_[subset] += known > 0 ? 1 : 0;
    }
    if (!has_labels() || (labelled(valid) == subset_size(valid) && labelled(test) == subset_size(test))) return;
    const auto share = [&](Subset subset, const char* name) {
        return std::to_string(labelled(subset)) + " of " + std::to_string(subset_size(subset)) + " " + name;
    };
    report_.notes.push_back(share(valid, "validation") + " and " + share(test, "test") +
                            " vertices have a label: scores are over these.");
}

Dataset open_dataset(const std::filesystem::path& path, const DatasetOptions& options) {
    check_options(options);
    if (auto arrays = lent(path.string(), options.in_shares > 0)) return make_dataset(std::move(*arrays), options);
    const Reader& reader = find_reader(path);
    Origin origin;
    origin.where = path.string();
    if (options.in_shares == 0)
        origin.graph = read_graph(reader, path, {options.index_base, options.preparation.edge_weights});
    origin.open_features = [&](std::int64_t vertices) { return open_features(reader, path, vertices); };
    origin.read_supervision = [&](const std::string& split, std::int64_t vertices) {
        return read_supervision(reader, path, split, vertices);
    };
    origin.leftovers = [&](std::int64_t vertices) { return leftovers_of(reader, path, vertices); };
    return {std::move(origin), options};
}

Dataset make_dataset(Arrays arrays, const DatasetOptions& options) {
    check_options(options);
    if (options.index_base == IndexBase::one) {
        throw Error(ErrorCode::usage, "ids of vertices in arrays count from 0, not from 1", arrays.name,
                    "leave the index base out");
    }
    if (options.preparation.edge_weights && !arrays.edges.weighted()) {
        throw Error(ErrorCode::data, "the edges have no weights", arrays.name,
                    "make the list of edges with weights, or do not ask for them");
    }
    return {origin_of(std::move(arrays), options.preparation.edge_weights), options};
}

}  // namespace gnnplan::data
