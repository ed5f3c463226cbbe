// Peak memory of a candidate, by what else is in memory while it is built.
#pragma once

#include <gnnplan/ir/memory.hpp>

#include <cstdint>

namespace gnnplan::train {

struct LoadState {
    bool state_lives = false;  // the model's state of an earlier candidate is there while the graph is loaded
    bool graph_stays = false;  // the graph is not freed: other candidates will be built from it
    std::int64_t cached_feature_bytes = 0;  // all features are kept in memory, for the same reason
    bool writes_outputs = false;            // the numbers of the outputs' vertices are kept (outputs.hpp)
};

// Bytes of the rank that needs most; `graph` answers in the schedule's numbering. With nothing else in memory that is
// peak_bytes_per_rank.
std::int64_t footprint(const Schedule& schedule, const GraphStats& graph, const LoadState& loaded);

}  // namespace gnnplan::train
