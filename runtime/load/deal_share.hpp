// Reads a rank's share of a file and deals its edges to the ranks that make rows of them, while it is read.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/load/deal.hpp"

#include <cstdint>

namespace gnnplan::load {

struct DealtShare {
    Dealt edges;                   // dealt to this rank
    data::ParsedGraph found;       // of the share that this rank has read, without edges
    std::uint64_t listed = 0;      // hash of the edges of that share, as they are listed
    std::int32_t largest_id = -1;  // of that share, counted from 0
};

// Collective. Throws on every rank the error of the rank that comes first in the file. Edges of vertices that the
// dataset does not have are not dealt: the caller refuses their ids once the file is known to have the form it was read
// as.
DealtShare deal_share(comm::Communicator& comm, const data::Dataset& dataset, const RowShares& shares,
                      const data::VertexOrder& order, bool with_targets);

}  // namespace gnnplan::load
