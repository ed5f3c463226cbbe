// How edges are dealt to the parts of a vertex cut.
#pragma once

#include <cstdint>

namespace gnnplan {

// How a vertex cut deals edges to parts.
enum class CutRule : std::uint8_t {
    none,    // there is no cut
    libra,   // greedily, to parts that have a replica of an end already (Libra, DGL's libra_partition)
    seeded,  // to METIS's part where both ends are in one; the others as by Libra. Needs METIS
    cover,   // of each two of METIS's parts, so that as few vertices as possible have an edge in the other: a smallest
             // vertex cover of the edges between them (SuperGCN, arXiv 2411.16025). Needs METIS
};

}  // namespace gnnplan
