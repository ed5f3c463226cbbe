// Counts the vertices that have an edge, in a graph whose rows are spread over ranks.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/graph/rows.hpp"

#include <cstdint>

namespace gnnplan::load {

// Counts vertices with an edge to or from another one. Collective, on the control channel, over which each rank sends a
// bit for each of `vertices`. `sources` has the rows of A^T that this rank makes, which belong to the vertices `names`.
std::int64_t count_with_edges(comm::Communicator& comm, const data::Csr& sources, const data::RowVertices& names,
                              std::int64_t vertices);

}  // namespace gnnplan::load
