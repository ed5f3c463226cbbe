#include "runtime/train/footprint.hpp"

#include "runtime/exec/model_state.hpp"
#include "runtime/train/outputs.hpp"

#include <algorithm>

namespace gnnplan::train {

std::int64_t footprint(const Schedule& schedule, const GraphStats& graph, const LoadState& loaded) {
    const std::int64_t state = loaded.state_lives ? exec::ModelState::bytes_of(schedule) : 0;
    std::int64_t largest = 0;
    for (int rank = 0; rank < schedule.grid.size(); ++rank) {
        const MemoryPlan plan = plan_memory(schedule, graph, rank);
        const std::int64_t loading = plan.load_bytes + plan.order_bytes + state;
        const std::int64_t running = plan.arena_bytes + std::max(plan.order_bytes, plan.served_bytes) +
                                     (loaded.graph_stays ? plan.load_bytes : 0);
        const std::int64_t rows = loaded.writes_outputs ? OutputRows::bytes_of(schedule, rank) : 0;
        largest = std::max(largest, plan.adjacency_bytes + plan.request_bytes + rows + std::max(loading, running));
    }
    return largest + loaded.cached_feature_bytes;
}

}  // namespace gnnplan::train
