// Reading a rank's share of a file with all threads of the rank.
#pragma once

#include "runtime/data/dataset.hpp"

#include <functional>
#include <span>

namespace gnnplan::load {

// Edges are looked at by the threads that read them, several at a time, and then taken by the calling thread alone,
// which may talk to other ranks; it reads as well. Blocks have EdgeList::block_edges, but for the last, however many
// threads there are; their order is of no account.
struct EdgeReceiver {
    std::function<void(std::span<const data::Edge>)> look;
    data::EdgeList::Take take;
};

// Reads one rank's share. Returns what one reader would have returned, without edges. Throws what reading or looking
// throws, of several failures that of what comes first in the file, and what `take` throws.
data::ParsedGraph read_with_threads(const data::Dataset& dataset, int rank, int ranks, const EdgeReceiver& receiver);

}  // namespace gnnplan::load
