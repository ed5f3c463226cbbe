#include "runtime/exec/handlers.hpp"

#include "runtime/comm/reduce_scatter.hpp"

namespace gnnplan::exec {

void run_step(const AllReduceStep& step, const StepContext& context) {
    const Store& store = context.store;
    if (tensor_of(store.schedule(), step.tensor).dtype == DType::f64) {
        context.world.all_reduce(store.values<double>(step.tensor));
    } else if (step.over_all_ranks(store.schedule())) {
        context.world.all_reduce(store.values<float>(step.tensor));
    } else {
        const std::vector<int> group = step.group(store.schedule(), store.rank());
        const std::span<float> values = store.values<float>(step.tensor);
        const auto largest = balanced_block({0, std::ssize(values)}, 0, static_cast<int>(group.size())).size();
        const std::span<float> scratch{reinterpret_cast<float*>(store.staging(context.step)),
                                       static_cast<std::size_t>(largest)};
        comm::all_reduce(context.world, context.kernels, group, values, scratch);
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
