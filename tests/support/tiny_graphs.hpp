// Small graphs with features, labels and split, for the serial reference and for the product's loader.
#pragma once

#include "tests/support/serial_network.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gnnplan/models.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace gnnplan::testing {

struct TinyGraph {
    std::string name;
    std::int64_t vertices = 0;
    std::vector<std::pair<std::int32_t, std::int32_t>> edges;  // u -> v, without self loops and repeats
    std::int64_t features = 0;
    std::int64_t classes = 0;
    std::vector<float> feature;        // vertices x features
    std::vector<std::int32_t> labels;  // -1: unlabelled
    std::vector<std::uint8_t> subset;  // 0 train, 1 valid, 2 test, 255 none; at least one vertex trains
    std::vector<float> weights = {};   // of each edge, in a weighted graph
    bool weighted = false;
    std::vector<double> several = {};  // vertices x classes, 0, 1 or NaN (not known), in place of `labels`
};

// Each of `vertices` x (vertices - 1) directed edges with the chance degree / (vertices - 1).
TinyGraph random_directed(std::int64_t vertices, double degree, std::int64_t features, std::int64_t classes,
                          std::uint64_t seed);
TinyGraph random_symmetric(std::int64_t vertices, double degree, std::int64_t features, std::int64_t classes,
                           std::uint64_t seed);
TinyGraph directed_path(std::int64_t vertices, std::int64_t features, std::int64_t classes, std::uint64_t seed);
TinyGraph star(std::int64_t vertices, std::int64_t features, std::int64_t classes, std::uint64_t seed);  // both ways
TinyGraph no_edges(std::int64_t vertices, std::int64_t features, std::int64_t classes, std::uint64_t seed);
// A random directed graph whose first, middle and last vertex lost their edges.
TinyGraph isolated_vertices(std::int64_t vertices, std::int64_t features, std::int64_t classes, std::uint64_t seed);
// A symmetric graph that can be learnt: most neighbours share a vertex's class, features lean towards it.
TinyGraph planted(std::int64_t vertices, double degree, std::int64_t features, std::int64_t classes,
                  std::uint64_t seed);

// Uneven sizes, more ranks than rows, widths below the number of ranks, one class, isolated vertices, no edges, one
// vertex.
std::vector<TinyGraph> tiny_graphs();

// A graph with weights of edges between 0 and 2, some 0, which both directions of an edge share if `symmetric`.
TinyGraph with_weights(TinyGraph graph, bool symmetric);
// All of the above so; of the symmetric ones the star's are not.
std::vector<TinyGraph> weighted_tiny_graphs();

// With several labels for each vertex, some of them not known if `masked`; as it is where there is one class.
TinyGraph with_several_labels(TinyGraph graph, bool masked);

// A GCN on the graph unless another model is given. `widths` begins with graph.features and ends with graph.classes.
SerialProblem serial_problem(const TinyGraph& graph, const std::vector<std::int64_t>& widths, bool bias,
                             const models::MatrixForm& form = {}, ModelRecord model = {});

// Writes the graph as an OGB raw folder that the product's loader reads back without loss. The folder must not exist.
void write_ogb(const TinyGraph& graph, const std::filesystem::path& folder);

using test::TemporaryFolder;

}  // namespace gnnplan::testing
