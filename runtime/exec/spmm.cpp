#include "runtime/exec/handlers.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::exec {
namespace {

// Panel after panel: every rank of the x-group broadcasts its block of the dense operand, the others receive it in
// staging, and each multiplies it by its sparse block of those columns. The order is that of x on every rank.
void run_panels(const SpmmStep& step, const StepContext& context) {
    Store& store = context.store;
    const Schedule& schedule = store.schedule();
    const Grid& grid = schedule.grid;
    const int rank = store.rank();
    const auto panels = store.panels(step.matrix);
    for (int ix = 0; ix < grid.x; ++ix) {
        const int root = grid.rank_at(ix, grid.coordinate(rank, Axis::y), grid.coordinate(rank, Axis::z));
        const Block part = block_of(schedule, step.in, root);
        std::byte* bytes = root == rank ? store.bytes(step.in) : store.staging(context.step);
        context.x_group.broadcast(ix, {bytes, static_cast<std::size_t>(block_bytes(schedule, step.in, root))});
        const kernels::ConstMatrix panel{reinterpret_cast<const float*>(bytes), part.rows.size(), part.columns.size(),
                                         part.columns.size()};
        context.kernels.spmm(panels[static_cast<std::size_t>(ix)].view(), panel, store.matrix(step.out), ix > 0);
    }
}

}  // namespace

void run_step(const SpmmStep& step, const StepContext& context) {
    if (step.exchange == Exchange::panels) return run_panels(step, context);
    const auto panels = context.store.panels(step.matrix);
    ensure(panels.size() == 1, "a sparse block in panels is multiplied without an exchange");
    context.kernels.spmm(panels.front().view(), context.store.matrix(step.in), context.store.matrix(step.out), false);
}

}  // namespace gnnplan::exec
