// Vertex cuts: edges are dealt to parts, and a vertex whose edges lie in several parts has replicas.
#pragma once

#include "runtime/graph/csr.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::data {

// How edges are dealt.
enum class CutRule {
    libra,   // greedily, to parts that have a replica of an end already (Libra, DGL's libra_partition)
    seeded,  // to METIS's part where both ends are in one; the others as by Libra. Needs METIS
    cover,   // of each two of METIS's parts, so that as few vertices as possible have an edge in the other: a smallest
             // vertex cover of the edges between them (SuperGCN, arXiv 2411.16025). Needs METIS
};

// The part of each vertex's owner, and of each nonzero of a matrix in its order. Part p owns as many vertices as
// balanced_block({0, vertices}, p, parts). Both directions of an edge are in one part; a self loop is where the vertex
// is owned.
struct Cut {
    std::vector<std::int32_t> owner;
    std::vector<std::int16_t> out;  // of graph.out
    std::vector<std::int16_t> in;   // of graph.in; empty where the graph is symmetric

    bool operator==(const Cut&) const = default;
};

constexpr int most_cut_parts = 1 << 15;

// A function of its arguments (and of METIS and the C library). 2 <= parts <= most_cut_parts. Throws Error{unavailable}
// for a rule that needs METIS in a build without it, and for graphs beyond 32-bit indices.
Cut cut(const Graph& graph, CutRule rule, int parts, std::uint64_t seed);

}  // namespace gnnplan::data
