#include "runtime/exec/handlers.hpp"

#include "runtime/comm/reduce_scatter.hpp"

namespace gnnplan::exec {

void run_step(const AllReduceStep& step, const StepContext& context) {
    const Store& store = context.store;
    if (tensor_of(store.schedule(), step.tensor).dtype == DType::f64) {
        context.world.all_reduce(store.values<double>(step.tensor));
    } else {
        context.world.all_reduce(store.values<float>(step.tensor));
    }
}

void run_step(const ReduceScatterStep& step, const StepContext& context) {
    const Store& store = context.store;
    const Grid& grid = store.schedule().grid;
    const Axis axis = partial_axis(tensor_of(store.schedule(), step.in));
    const Block whole = store.block(step.in);
    std::vector<int> group;
    std::vector<std::int64_t> offsets{0};
    for (int i = 0; i < grid.extent(axis); ++i) {
        group.push_back(grid.neighbour(store.rank(), axis, i));
        const std::int64_t rows = balanced_block(whole.rows, i, grid.extent(axis)).size();
        offsets.push_back(offsets.back() + rows * whole.columns.size());
    }
    const auto largest = static_cast<std::size_t>(offsets[1]);
    const std::span<float> scratch{reinterpret_cast<float*>(store.staging(context.step)), largest};
    comm::reduce_scatter(context.world, context.kernels, group, store.values<float>(step.in), offsets,
                         store.values<float>(step.out), scratch);
}

}  // namespace gnnplan::exec
