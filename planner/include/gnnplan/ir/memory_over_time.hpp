// Memory of a schedule along its steps: which tensors a rank keeps while it does each of them.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gnnplan {

// A tensor in the arena, from the first to the last position in time at which its room is its own. Those that keep
// their place stay from position 0 to the number of steps.
struct TensorStay {
    TensorId tensor = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::int64_t bytes = 0;  // of its room, which is a multiple of arena_alignment
};

struct MemoryOverTime {
    std::vector<std::size_t> steps;           // of the schedule, in the order in which time passes: setup comes first
    std::vector<TensorStay> tensors;          // by tensor, without adjacencies and what no step uses
    std::vector<std::int64_t> staging_bytes;  // by position
};

// `graph` answers in the schedule's numbering. At no position do tensors and staging take more than
// MemoryPlan::arena_bytes of the same rank; they may take less, as rooms do not move to fill a gap.
MemoryOverTime memory_over_time(const Schedule& schedule, const GraphStats& graph, int rank);

}  // namespace gnnplan
