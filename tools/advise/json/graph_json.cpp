#include "tools/advise/json/graph_json.hpp"

#include <algorithm>
#include <utility>

namespace gnnplan::tools {

Degrees degrees_of(const data::Dataset& dataset) {
    Degrees degrees;
    const data::Csr& matrix = dataset.graph().out;
    for (std::int64_t v = 0; v < matrix.vertices; ++v) {
        const std::int64_t degree = matrix.degree(v) - 1;
        degrees.min = std::min(degrees.min, degree);
        degrees.max = std::max(degrees.max, degree);
    }
    const auto n = static_cast<double>(matrix.vertices);
    degrees.mean = static_cast<double>(matrix.nonzeros()) / n - 1;
    return degrees;
}

namespace {

// Vertices of each subset, and those of them that have a label; null where the data has no split of its own.
struct SubsetSizes {
    io::Document split, labelled;
};

SubsetSizes subset_sizes(const data::Dataset& dataset) {
    if (dataset.subset().empty() || dataset.report().split_generated) return {};
    const auto by_subset = [](const auto& count) {
        return io::Document::object(
            {{"train", count(data::train)}, {"valid", count(data::valid)}, {"test", count(data::test)}});
    };
    return {by_subset([&](data::Subset subset) { return dataset.subset_size(subset); }),
            by_subset([&](data::Subset subset) { return dataset.labelled(subset); })};
}

}  // namespace

io::Document encode(const data::Dataset& dataset, const Degrees& degrees, const Fingerprints& of) {
    const data::LoadReport& report = dataset.report();
    const auto count_or_null = [](std::int64_t count) { return count > 0 ? io::Document(count) : io::Document(); };
    const auto text_or_null = [](const std::string& text) {
        return text.empty() ? io::Document() : io::Document(text);
    };
    std::vector<std::string> unread;
    for (const data::Unread& one : report.leftovers.unread) unread.push_back(one.name);
    SubsetSizes sizes = subset_sizes(dataset);
    return io::Document::object({{"schema", "gnnplan.graph/1"},
                                 {"path", report.path},
                                 {"format", report.format},
                                 {"index_base", report.index_base},
                                 {"vertices", report.vertices},
                                 {"edges", report.nonzeros - report.vertices},
                                 {"nonzeros", report.nonzeros},
                                 {"edges_read", report.edges_read},
                                 {"directed", report.directed},
                                 {"symmetric", dataset.graph().symmetric},
                                 {"symmetrised", report.symmetrised},
                                 {"self_loops_dropped", report.self_loops_dropped},
                                 {"duplicates_dropped", report.duplicates_dropped},
                                 {"edge_weights", report.weighted},
                                 {"edge_values_ignored", report.edge_values_ignored},
                                 {"degree_min", degrees.min},
                                 {"degree_mean", degrees.mean},
                                 {"degree_max", degrees.max},
                                 {"features", count_or_null(dataset.features())},
                                 {"classes", count_or_null(dataset.classes())},
                                 {"several_labels", !dataset.label_bits().empty()},
                                 {"split", std::move(sizes.split)},
                                 {"labelled", std::move(sizes.labelled)},
                                 {"unread", std::move(unread)},
                                 {"fingerprint", of.graph},
                                 {"features_fingerprint", text_or_null(of.features)},
                                 {"labels_fingerprint", text_or_null(of.labels)},
                                 {"split_fingerprint", text_or_null(report.split_generated ? "" : of.split)}});
}

io::Document encode(const data::GeneratedGraph& graph, const Generation& generation) {
    return io::Document::object({{"schema", "gnnplan.generated/1"},
                                 {"path", generation.path},
                                 {"vertices", graph.vertices},
                                 {"asked_nonzeros", graph.asked_nonzeros},
                                 {"edges", graph.edges.size()},
                                 {"features", graph.features},
                                 {"classes", graph.classes},
                                 {"seed", graph.seed},
                                 {"relabelled", generation.relabelled},
                                 {"symmetrised", generation.symmetrised},
                                 {"duplicates_dropped", generation.duplicates_dropped}});
}

}  // namespace gnnplan::tools
