// The OGB raw folder format: gzipped CSV files, one line per edge or vertex.
#include <zlib.h>

#include <cmath>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "tests/support/tiny_graphs.hpp"

namespace gnnplan::testing {
namespace {

void write_gzip(const std::filesystem::path& path, const std::string& text) {
    const gzFile file = gzopen(path.c_str(), "wb1");
    if (file == nullptr) throw std::runtime_error("cannot create " + path.string());
    const bool written = text.empty() || gzwrite(file, text.data(), static_cast<unsigned>(text.size())) > 0;
    if (gzclose(file) != Z_OK || !written) throw std::runtime_error("cannot write " + path.string());
}

std::string edge_lines(const TinyGraph& graph) {
    std::string text;
    for (const auto& [u, v] : graph.edges) text += fmt::format("{},{}\n", u, v);
    return text;
}

std::string weight_lines(const TinyGraph& graph) {
    std::string text;
    for (const float weight : graph.weights) text += fmt::format("{:.9g}\n", weight);
    return text;
}

std::string feature_lines(const TinyGraph& graph) {
    std::string text;
    for (std::size_t i = 0; i < graph.feature.size(); ++i) {
        const bool last = (static_cast<std::int64_t>(i) + 1) % graph.features == 0;
        text += fmt::format("{:.9g}{}", graph.feature[i], last ? '\n' : ',');
    }
    return text;
}

std::string label_lines(const TinyGraph& graph) {
    std::string text;
    for (std::size_t i = 0; i < graph.several.size(); ++i) {
        const bool last = (static_cast<std::int64_t>(i) + 1) % graph.classes == 0;
        text += (std::isnan(graph.several[i]) ? std::string("nan") : fmt::format("{}", graph.several[i])) +
                (last ? '\n' : ',');
    }
    if (!text.empty()) return text;
    for (const std::int32_t label : graph.labels) text += label < 0 ? std::string("nan\n") : fmt::format("{}\n", label);
    return text;
}

std::string subset_lines(const TinyGraph& graph, std::uint8_t subset) {
    std::string text;
    for (std::size_t v = 0; v < graph.subset.size(); ++v) {
        if (graph.subset[v] == subset) text += fmt::format("{}\n", v);
    }
    return text;
}

}  // namespace

void write_ogb(const TinyGraph& graph, const std::filesystem::path& folder) {
    const auto raw = folder / "raw";
    const auto split = folder / "split" / "random";
    std::filesystem::create_directories(raw);
    std::filesystem::create_directories(split);
    write_gzip(raw / "edge.csv.gz", edge_lines(graph));
    if (graph.weighted) write_gzip(raw / "edge-feat.csv.gz", weight_lines(graph));
    write_gzip(raw / "num-node-list.csv.gz", fmt::format("{}\n", graph.vertices));
    write_gzip(raw / "num-edge-list.csv.gz", fmt::format("{}\n", graph.edges.size()));
    write_gzip(raw / "node-feat.csv.gz", feature_lines(graph));
    write_gzip(raw / "node-label.csv.gz", label_lines(graph));
    write_gzip(split / "train.csv.gz", subset_lines(graph, 0));
    write_gzip(split / "valid.csv.gz", subset_lines(graph, 1));
    write_gzip(split / "test.csv.gz", subset_lines(graph, 2));
}

}  // namespace gnnplan::testing
