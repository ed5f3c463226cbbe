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

// Its own summands first, then those of the ranks before it, the next one first. At each step of the ring a rank sends
// to one rank and gets from one.
void run_step(const SumRowsStep& step, const StepContext& context) {
    const Store& store = context.store;
    const SparsePart& part = store.part(step.matrix);
    const kernels::Matrix in = store.matrix(step.in), out = store.matrix(step.out);
    const std::int64_t first = store.block(step.out).rows.begin;
    const int extent = store.schedule().grid.x;
    const int own = store.schedule().grid.coordinate(store.rank(), Axis::x);
    const auto target = [&](int x) -> const TargetRows& {
        return part.targets()[static_cast<std::size_t>(x % extent)];
    };
    const auto summands_of = [&](Range rows) {
        return kernels::ConstMatrix{in.data + rows.begin * in.columns, rows.size(), in.columns, in.columns};
    };
    const auto bytes_of_rows = [&](std::int64_t rows) { return 4 * static_cast<std::size_t>(rows * in.columns); };
    context.kernels.zero(std::as_writable_bytes(store.values<float>(step.out)));
    if (in.columns == 0) return;
    context.kernels.add_rows(summands_of(target(own).stored), part.stored_index(target(own)), first, out);
    for (int k = 1; k < extent; ++k) {
        const TargetRows &to = target(own + k), &from = target(own + extent - k);
        std::byte* const staged = store.staging(context.step);
        std::vector<comm::Send> sends;
        std::vector<comm::Receive> receives;
        const kernels::ConstMatrix sent = summands_of(to.stored);
        if (sent.rows > 0)
            sends.push_back({to.rank, {reinterpret_cast<const std::byte*>(sent.data), bytes_of_rows(sent.rows)}});
        if (from.received > 0) receives.push_back({from.rank, {staged, bytes_of_rows(from.received)}});
        context.world.exchange(sends, receives);
        if (from.received == 0) continue;
        context.kernels.add_rows({reinterpret_cast<const float*>(staged), from.received, in.columns, in.columns},
                                 reinterpret_cast<const std::int32_t*>(from.index->data()), first, out);
    }
}

}  // namespace gnnplan::exec
