// Peak memory of a candidate, by what else is in memory while it is built.
#pragma once

#include "runtime/deploy/outputs.hpp"

#include <gnnplan/ir/memory.hpp>

#include <cstdint>

namespace gnnplan::deploy {

struct LoadState {
    bool state_lives = false;  // the model's state of an earlier candidate is there while the graph is loaded
    bool graph_stays = false;  // the graph is not freed: other candidates will be built from it
    std::int64_t cached_feature_bytes = 0;  // all features are kept in memory, for the same reason
    bool adopts_blocks = false;             // of an earlier candidate, so that none is cut
    std::int64_t message_bytes = 0;         // of the host, for messages between devices
    Written written = Written::nothing;     // the numbers of whose vertices are kept
};

struct Footprint {
    std::int64_t tensors = 0;  // with all else where tensors are in the host's memory
    std::int64_t host = 0;     // of an accelerator's host; 0: there is none
};

// Bytes of the rank that needs most of each; `graph` answers in the schedule's numbering. With nothing else in memory
// that is peak_bytes_per_rank, in training where nothing is written, in an inference where its outputs are.
Footprint footprint(const Schedule& schedule, const GraphStats& graph, const LoadState& loaded,
                    const TensorMemory& memory = {});

}  // namespace gnnplan::deploy
