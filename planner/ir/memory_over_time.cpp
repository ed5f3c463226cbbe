#include "planner/ir/arena.hpp"
#include "planner/ir/memory_parts.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/memory_over_time.hpp>

#include <algorithm>

namespace gnnplan {

MemoryOverTime memory_over_time(const Schedule& schedule, const GraphStats& graph, int rank) {
    const Arena arena(schedule);
    MemoryOverTime memory;
    memory.steps = arena.timeline();
    memory.tensors = arena.stays();
    const std::vector<std::int64_t> bytes = tensor_bytes(schedule, graph, rank);
    for (TensorStay& stay : memory.tensors) stay.bytes = aligned(bytes[static_cast<std::size_t>(stay.tensor)]);
    for (const std::size_t step : memory.steps)
        memory.staging_bytes.push_back(aligned(staged_bytes(schedule, schedule.steps[step], graph, rank)));
    return memory;
}

}  // namespace gnnplan
