// Vertex cuts: edges are dealt to parts by a CutRule, and a vertex whose edges lie in several parts has replicas.
#pragma once

#include "runtime/graph/csr.hpp"

#include <gnnplan/ir/graph_stats.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan::data {

// The part of each vertex's owner, and of each nonzero of a matrix in its order. Part p owns as many vertices as
// balanced_block({0, vertices}, p, parts). Both directions of an edge are in one part; a self loop is where the vertex
// is owned.
struct Cut {
    std::vector<std::int32_t> owner;
    std::vector<std::int16_t> out;  // of graph.out
    std::vector<std::int16_t> in;   // of graph.in; empty where the graph is symmetric

    // Returns the part of each nonzero of Graph::matrix(id).
    const std::vector<std::int16_t>& of(MatrixId id) const { return id.transposed && !in.empty() ? in : out; }
    std::int64_t bytes() const {
        return static_cast<std::int64_t>(owner.size() * sizeof(std::int32_t) +
                                         (out.size() + in.size()) * sizeof(std::int16_t));
    }
    bool operator==(const Cut&) const = default;
};

constexpr int most_cut_parts = 1 << 15;

// A function of its arguments (and of METIS and the C library). Rule none is no cut; 2 <= parts <= most_cut_parts.
// Throws Error{unavailable} for a rule that needs METIS in a build without it, and for graphs beyond 32-bit indices.
Cut cut(const Graph& graph, CutRule rule, int parts, std::uint64_t seed);

}  // namespace gnnplan::data
