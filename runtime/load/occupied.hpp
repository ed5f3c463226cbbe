// How many vertices have an edge, of a graph whose rows are with different ranks.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/graph/rows.hpp"

#include <cstdint>

namespace gnnplan::load {

// Collective, on the control channel, over which each rank sends a bit for each of `vertices`. `sources` has the rows of
// A^T that this rank makes, of the vertices `names`. Counts vertices with an edge to or from another one.
std::int64_t count_with_edges(comm::Communicator& comm, const data::Csr& sources, const data::RowVertices& names,
                              std::int64_t vertices);

}  // namespace gnnplan::load
