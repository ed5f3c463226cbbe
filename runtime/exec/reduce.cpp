#include "runtime/exec/handlers.hpp"

#include "runtime/comm/reduce_scatter.hpp"

#include <algorithm>
#include <variant>

namespace gnnplan::exec {

namespace {

bool has_squares(const Schedule& schedule, TensorId tensor) {
    return std::ranges::any_of(schedule.steps, [&](const Step& step) {
        const auto* head = std::get_if<HeadStep>(&step.operation);
        return head != nullptr && head->out == tensor && makes_squares(*head);
    });
}

std::span<kernels::SquareSum> as_squares(std::span<float> values) {
    return {reinterpret_cast<kernels::SquareSum*>(values.data()), values.size()};
}

}  // namespace

void run_step(const AllReduceStep& step, const StepContext& context) {
    const Store& store = context.store;
    if (tensor_of(store.schedule(), step.tensor).dtype == DType::f64)
        return context.world.all_reduce(store.values<double>(step.tensor));
    const bool squares = has_squares(store.schedule(), step.tensor);
    const std::span<float> values = store.values<float>(step.tensor);
    if (step.over_all_ranks(store.schedule()))
        return squares ? context.world.all_reduce(as_squares(values)) : context.world.all_reduce(values);
    const std::vector<int> group = step.group(store.schedule(), store.rank());
    const auto largest = balanced_block({0, std::ssize(values)}, 0, static_cast<int>(group.size())).size();
    const std::span<float> scratch{reinterpret_cast<float*>(store.staging(context.step)),
                                   static_cast<std::size_t>(largest)};
    comm::all_reduce(context.world, squares ? context.kernels.add_squares : context.kernels.add, group, values,
                     scratch);
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
