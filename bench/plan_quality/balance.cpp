// How evenly a graph's nonzeros lie on a grid of ranks, in the order of the file, shuffled, and numbered by a
// partitioner: balance GRAPH...; prints the rows of a Markdown table. Lists are taken as undirected, self loops are
// added.
#include "runtime/blocks/graph_counts.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/graph/partition.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

namespace {

using namespace gnnplan;

// Rows over x, columns over y. Where M is replicated over y (1D, RDM) a rank holds all columns: y is 1 then.
constexpr std::pair<int, int> grids[] = {{4, 1}, {2, 2}, {8, 1}, {4, 2}};
constexpr std::uint64_t seed = 1;  // gnnplan's default

// The largest block's nonzeros over the mean, of A^T.
double imbalance(const GraphStats& graph, int over_x, int over_y) {
    const Range all{0, graph.vertices()};
    std::int64_t most = 0;
    for (int x = 0; x < over_x; ++x) {
        for (int y = 0; y < over_y; ++y) {
            const Range rows = balanced_block(all, x, over_x);
            const Range columns = balanced_block(all, y, over_y);
            most = std::max(most, graph.block_nonzeros(forward_matrix, rows, columns));
        }
    }
    return static_cast<double>(most) * over_x * over_y / static_cast<double>(graph.nonzeros());
}

void print_rows(const std::filesystem::path& path) {
    data::DatasetOptions options;
    options.preparation.symmetrise = true;
    options.graph_only = true;
    const data::Dataset dataset = data::open_dataset(path, options);
    const data::GraphCounts counts(dataset.graph());
    const auto shuffled = counts.numbered({.permuted = true, .seed = seed});
    for (const auto& [x, y] : grids) {
        std::printf("| %s | %dx%d | %.3f | %.3f | ", path.stem().stem().c_str(), x, y, imbalance(counts, x, y),
                    imbalance(*shuffled, x, y));
        if (!data::has_partitioner()) {
            std::printf("- |\n");
            continue;
        }
        const auto parts = counts.numbered({.parts = x, .seed = seed});
        std::printf("%.3f |\n", imbalance(*parts, x, y));
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: balance GRAPH...\n");
        return 64;
    }
    std::printf("| graph | blocks | file order | permuted | partitioned |\n|---|---|---|---|---|\n");
    try {
        for (int i = 1; i < argc; ++i) print_rows(argv[i]);
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
    return 0;
}
