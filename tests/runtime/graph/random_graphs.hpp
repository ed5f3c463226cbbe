// Small random graphs and their dense matrices, to check by brute force what is counted and cut sparsely.
#pragma once

#include "runtime/graph/csr.hpp"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace gnnplan::data::testing {

inline Graph random_graph(std::int64_t vertices, std::int64_t edges, bool symmetrise, bool self_loops, unsigned seed) {
    std::mt19937 random(seed);
    EdgeList list;
    for (std::int64_t e = 0; e < edges; ++e) {
        const auto from = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(vertices));
        list.add(from, static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(vertices)));
    }
    PreparationCounts counts;
    return build_graph(std::move(list), vertices, {symmetrise, self_loops}, counts);
}

// Directed and symmetric, with and without self loops, isolated vertices, no edges, one vertex.
inline std::vector<Graph> small_graphs() {
    std::vector<Graph> graphs;
    graphs.push_back(random_graph(9, 20, false, false, 1));
    graphs.push_back(random_graph(9, 12, false, true, 2));
    graphs.push_back(random_graph(10, 14, true, true, 3));
    graphs.push_back(random_graph(8, 4, true, false, 4));
    graphs.push_back(random_graph(7, 0, false, false, 5));
    graphs.push_back(random_graph(1, 0, false, true, 6));
    return graphs;
}

// The same with weights of edges, none of which is 0.
inline Graph weighted_random_graph(std::int64_t vertices, std::int64_t edges, bool symmetrise, bool self_loops,
                                   unsigned seed) {
    std::mt19937 random(seed);
    EdgeList list(true);
    for (std::int64_t e = 0; e < edges; ++e) {
        const auto from = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(vertices));
        const auto to = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(vertices));
        list.add(from, to, 0.25F * static_cast<float>(1 + random() % 9));
    }
    PreparationCounts counts;
    return build_graph(std::move(list), vertices, {symmetrise, self_loops, true}, counts);
}

inline std::vector<Graph> small_weighted_graphs() {
    std::vector<Graph> graphs;
    graphs.push_back(weighted_random_graph(9, 20, false, true, 1));
    graphs.push_back(weighted_random_graph(10, 14, true, true, 3));
    graphs.push_back(weighted_random_graph(8, 9, false, false, 4));
    graphs.push_back(weighted_random_graph(7, 0, false, false, 5));
    return graphs;
}

// 0 or 1: whether A, or A^T, has an entry.
inline std::vector<std::vector<int>> dense_pattern(const Graph& graph, bool transposed) {
    const auto n = static_cast<std::size_t>(graph.vertices());
    std::vector<std::vector<int>> dense(n, std::vector<int>(n, 0));
    for (std::size_t u = 0; u < n; ++u) {
        for (std::int64_t k = graph.out.row_start[u]; k < graph.out.row_start[u + 1]; ++k) {
            const auto v = static_cast<std::size_t>(graph.out.column[static_cast<std::size_t>(k)]);
            (transposed ? dense[v][u] : dense[u][v]) = 1;
        }
    }
    return dense;
}

// The first third of the vertices trains, the rest do not.
inline std::vector<std::uint8_t> third_trains(const Graph& graph) {
    std::vector<std::uint8_t> subset(static_cast<std::size_t>(graph.vertices()));
    for (std::size_t v = 0; v < subset.size(); ++v) {
        subset[v] = 3 * v <= subset.size() ? std::uint8_t{0} : v % 2 == 0 ? std::uint8_t{1} : std::uint8_t{255};
    }
    return subset;
}

}  // namespace gnnplan::data::testing
