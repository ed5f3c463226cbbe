// The smallest vertex cover of a bipartite graph: vertices that every edge has one of.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace gnnplan::data {

// Edges of a bipartite graph with `left` and `right` vertices, numbered from 0 on each side.
struct Bipartite {
    std::int32_t left = 0;
    std::int32_t right = 0;
    std::vector<std::pair<std::int32_t, std::int32_t>> edges;  // (left, right)
};

struct VertexCover {
    std::vector<bool> left;
    std::vector<bool> right;
};

// A maximum matching (Hopcroft & Karp 1973), and the cover of as many vertices that follows from it (König 1931). The
// same edges in the same order give the same cover. O(edges * sqrt(vertices)).
VertexCover smallest_vertex_cover(const Bipartite& graph);

}  // namespace gnnplan::data
