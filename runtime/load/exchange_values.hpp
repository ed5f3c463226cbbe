// Values of rows go between the ranks that keep and make them.
#pragma once

#include "runtime/blocks/vertex_values.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/graph/csr.hpp"
#include "runtime/load/row_shares.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace gnnplan::load {

// Collective, as is all here. Puts the rows that the ranks of a group have made of a matrix together, so that each has
// all that they keep. 8 bytes for each row, 4 for each nonzero, 4 more with weights, to each other rank of the group.
data::Csr share_rows(comm::Communicator& comm, const RowShares& shares, data::Csr made, bool weighted);

// The same for a number of each row; 8 bytes a row.
std::vector<double> share_values(comm::Communicator& comm, const RowShares& shares, std::vector<double> made);

// The numbers of the rows in a set, asked of the ranks that make them, which have `made`: 4 bytes for each row, 8 for
// each number, and 8 between each two ranks.
std::vector<double> values_of(comm::Communicator& comm, const RowShares& shares, const data::VertexSet& rows,
                              const std::vector<double>& made);

}  // namespace gnnplan::load
