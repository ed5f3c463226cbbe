// The one place that knows METIS.
#pragma once

#include "runtime/graph/neighbours.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::data {

// How much a vertex counts when METIS makes parts of about equal size: as one, or as its row of the matrix has
// nonzeros, which with the self loop are its degree + 1.
enum class Weighed { alike, by_degree };

// Whether METIS takes the graph: it wants something to cut.
inline bool metis_cuts(const Neighbours& graph, int parts) { return !graph.vertex.empty() && graph.vertices() > parts; }

// The part of each vertex by METIS_PartGraphKway with METIS's default balance; some parts may be empty. For graphs that
// metis_cuts(). METIS takes the arrays as mutable, and leaves them as they are. Throws
// Error{unavailable} in a build without METIS, and when METIS fails.
std::vector<std::int32_t> metis_parts(Neighbours& graph, int parts, Weighed weighed = Weighed::alike);

}  // namespace gnnplan::data
