// How edges are dealt to the parts of a vertex cut, and how vertices in several parts count.
#pragma once

#include <cstdint>
#include <optional>

namespace gnnplan {

// How a vertex cut deals edges to parts.
enum class CutRule : std::uint8_t {
    none,    // there is no cut
    libra,   // greedily, to parts that have a replica of an end already (Libra, DGL's libra_partition)
    seeded,  // to METIS's part where both ends are in one; the others as by Libra. Needs METIS
    cover,   // of each two of METIS's parts, so that as few vertices as possible have an edge in the other: a smallest
             // vertex cover of the edges between them (SuperGCN, arXiv 2411.16025). Needs METIS
};

// How the loss counts the vertices of groups that train on parts of a cut: a vertex has a clone in every group that
// has an edge of it. How groups know of each other is a delay (DistGNN, algorithm 4): unset, they do not (`0c`); 0,
// clones of a vertex have the sum over all its edges, in both passes (`cd-0`); r > 0, in every epoch one in r vertices
// has what others' edges summed up to r epochs ago, in the forward pass alone (`cd-r`).
enum class CloneLoss : std::uint8_t {
    none,    // there are no clones
    shares,  // every clone, by its share of the vertex's edges (CoFree-GNN, Cao et al. 2023)
    owners,  // the clone of the group that owns the vertex (DistGNN)
};

inline constexpr int most_delay = 1000;  // epochs

// In how many bins vertices take turns in getting sums.
constexpr int bins_of(const std::optional<int>& delay) { return delay && *delay > 1 ? *delay : 1; }

}  // namespace gnnplan
