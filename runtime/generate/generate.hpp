// Synthetic graphs, the same for the same seed on every machine.
#pragma once

#include "runtime/graph/arrays.hpp"
#include "runtime/graph/edges.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace gnnplan::data {

struct RmatOptions {
    std::int64_t vertices = 0;
    std::int64_t nonzeros =
        0;  // directed entries aimed at, after symmetrising and before duplicates and self loops are dropped
    double a = 0.57, b = 0.19, c = 0.19, d = 0.05;  // quadrant probabilities (Chakrabarti et al. 2004); sum 1
    std::uint64_t seed = 0;
    bool relabel = true;          // number the vertices at random
    bool symmetrise = true;       // list both directions of each edge
    bool drop_duplicates = true;  // and self loops
};

struct PlantedOptions {
    std::int64_t vertices = 0;
    std::int64_t nonzeros = 0;  // as above
    std::int64_t classes = 0;
    std::int64_t features = 0;
    double homophily = 0.8;  // chance that an edge is drawn inside its class
    std::uint64_t seed = 0;
    bool relabel = true;  // false: vertices of a class are numbered consecutively
    bool symmetrise = true;
    bool drop_duplicates = true;
};

// A graph to be written. Edges are directed entries. Features are drawn while they are written: `feature_rows` below.
struct GeneratedGraph {
    std::int64_t vertices = 0;
    std::int64_t asked_nonzeros = 0;  // got: edges.size()
    EdgeList edges;
    std::int64_t features = 0;  // 0: graph only
    std::int64_t classes = 0;
    std::uint64_t seed = 0;
    std::vector<std::int32_t> labels;
    std::vector<std::uint8_t> subset;  // Subset
};

// Throws ErrorCode::usage when the options make no sense (no vertices, more entries than fit, probabilities not summing
// to 1).
GeneratedGraph generate_rmat(const RmatOptions& options);
// Features are the centroid of the class plus noise that hides it from a classifier that does not look at the
// neighbours; split 60/20/20 at random.
GeneratedGraph generate_planted(const PlantedOptions& options);

// The features of a planted partition: a function that writes the row of a vertex (graph.features floats). It refers to
// the graph.
std::function<void(std::int64_t vertex, float* out)> feature_rows(const GeneratedGraph& graph);

// The graph as arrays, with the features that its file would have.
Arrays arrays_of(GeneratedGraph graph);

// Writes FILE.npz (edge_index, num_nodes; with features also x, y, train_idx, valid_idx, test_idx) when the path ends
// in .npz, else an OGB raw folder. Both appear under their name only when complete. An existing file is replaced, an
// existing folder is not. Throws ErrorCode::cannot_create or ErrorCode::io.
void write_graph(const GeneratedGraph& graph, const std::filesystem::path& path);

}  // namespace gnnplan::data
