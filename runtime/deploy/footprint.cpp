#include "runtime/deploy/footprint.hpp"

#include "runtime/deploy/outputs.hpp"
#include "runtime/exec/model_state.hpp"

#include <algorithm>

namespace gnnplan::deploy {
namespace {

std::int64_t of_processor(const MemoryPlan& plan, const LoadState& loaded, std::int64_t state, std::int64_t rows) {
    const std::int64_t loading = plan.load_bytes + plan.order_bytes + state;
    const std::int64_t running =
        plan.arena_bytes + plan.kept_bytes() + (loaded.graph_stays && !plan.keeps_graph ? plan.load_bytes : 0);
    return plan.adjacency_bytes + plan.request_bytes + rows + std::max(loading, running) + loaded.cached_feature_bytes;
}

}  // namespace

Footprint footprint(const Schedule& schedule, const GraphStats& graph, const LoadState& loaded,
                    const TensorMemory& memory) {
    const std::int64_t state = loaded.state_lives ? exec::ModelState::bytes_of(schedule) : 0;
    Footprint most;
    for (int rank = 0; rank < schedule.grid.size(); ++rank) {
        const MemoryPlan plan = plan_memory(schedule, graph, rank);
        const std::int64_t rows = OutputRows::bytes_of(schedule, rank, loaded.written);
        Footprint own{of_processor(plan, loaded, state, rows), 0};
        if (memory.accelerator) {
            const std::int64_t cut = loaded.adopts_blocks ? 0 : cut_bytes(schedule, graph, rank);
            own = {plan.peak(memory), plan.host_peak(cut, rows) + loaded.cached_feature_bytes + loaded.message_bytes};
        }
        most = {std::max(most.tensors, own.tensors), std::max(most.host, own.host)};
    }
    return most;
}

}  // namespace gnnplan::deploy
