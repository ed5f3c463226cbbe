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

// Summands that two ranks exchange: a step's staging holds those that leave, if they are rounded, then those that
// arrive.
class Summands {
public:
    Summands(const StepContext& context, Wire wire, std::int64_t columns)
        : context_(context),
          wire_(wire),
          columns_(columns),
          leaving_(context.store.staging(context.step)),
          arriving_(leaving_ + context.store.send_staging_bytes(context.step)) {}

    bool rounds() const { return wire_ == Wire::bfloat16; }
    // Sends rows to one rank and gets some of another; either may be none.
    void exchange(int to, const kernels::ConstMatrix& sent, int from, std::int64_t received) const {
        std::vector<comm::Send> sends;
        std::vector<comm::Receive> receives;
        const auto* rows = rounds() ? leaving_ : reinterpret_cast<const std::byte*>(sent.data);
        if (rounds() && sent.rows > 0)
            context_.kernels.narrow(sent, {reinterpret_cast<kernels::Bf16*>(leaving_), sent.rows, columns_, columns_});
        if (sent.rows > 0) sends.push_back({to, {rows, bytes_of(sent.rows)}});
        if (received > 0) receives.push_back({from, {arriving_, bytes_of(received)}});
        context_.world.exchange(sends, receives);
    }
    // Those that have come.
    kernels::ConstMatrix floats(std::int64_t rows) const {
        return {reinterpret_cast<const float*>(arriving_), rows, columns_, columns_};
    }
    kernels::Dense<const kernels::Bf16> rounded(std::int64_t rows) const {
        return {reinterpret_cast<const kernels::Bf16*>(arriving_), rows, columns_, columns_};
    }

private:
    std::size_t bytes_of(std::int64_t rows) const {
        return static_cast<std::size_t>(wire_bytes(wire_, rows * columns_));
    }

    const StepContext& context_;
    Wire wire_;
    std::int64_t columns_;
    std::byte* leaving_;
    std::byte* arriving_;
};

// Its own summands first, then those of the ranks before it, the next one first.
void reduce_scatter_rounded(const ReduceScatterStep& step, const StepContext& context) {
    const Store& store = context.store;
    const Grid& grid = store.schedule().grid;
    const Axis axis = partial_axis(tensor_of(store.schedule(), step.in));
    const int own = grid.coordinate(store.rank(), axis), extent = grid.extent(axis);
    const kernels::Matrix in = store.matrix(step.in), out = store.matrix(step.out);
    const Range whole = store.block(step.in).rows;
    const auto summands_of = [&](int position) {
        const Range rows = balanced_block(whole, position % extent, extent);
        return kernels::ConstMatrix{in.row(rows.begin - whole.begin), rows.size(), in.columns, in.columns};
    };
    const auto rank_at = [&](int position) { return grid.neighbour(store.rank(), axis, position % extent); };
    const Summands summands(context, step.wire, in.columns);
    context.kernels.copy(summands_of(own), out);
    for (int k = 1; k < extent && in.columns > 0; ++k) {
        summands.exchange(rank_at(own + k), summands_of(own + k), rank_at(own + extent - k), out.rows);
        if (out.rows > 0) context.kernels.add_widened(summands.rounded(out.rows), out);
    }
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
    if (step.wire == Wire::bfloat16) return reduce_scatter_rounded(step, context);
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
    const Summands summands(context, step.wire, in.columns);
    context.kernels.zero(std::as_writable_bytes(store.values<float>(step.out)));
    if (in.columns == 0) return;
    context.kernels.add_rows(summands_of(target(own).stored), part.stored_index(target(own)), first, out);
    for (int k = 1; k < extent; ++k) {
        const TargetRows &to = target(own + k), &from = target(own + extent - k);
        summands.exchange(to.rank, summands_of(to.stored), from.rank, from.received);
        if (from.received == 0) continue;
        const auto* index = reinterpret_cast<const std::int32_t*>(from.index->data());
        if (summands.rounds())
            context.kernels.add_rows_widened(summands.rounded(from.received), index, first, out);
        else
            context.kernels.add_rows(summands.floats(from.received), index, first, out);
    }
}

}  // namespace gnnplan::exec
