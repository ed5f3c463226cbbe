#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"
#include "planner/ir/steps/streamed.hpp"

namespace gnnplan {

void ReduceScatterStep::check(const StepCheck& step) const {
    step.distinct(in, out), step.written(in), step.written(out);
    step.typed(in, DType::f32), step.typed(out, DType::f32), step.same_shape(in, out);
    const Layout& layout = step.at(in).layout;
    step.require(layout.partial.size() == 1, "its input is no sum over one axis");
    step.in_layout(out, {Axes::parse(layout.rows.text() + layout.partial.text()), layout.columns, {}});
    step.require(step.grid().extent(layout.partial[0]) > 1, "there is nothing to sum over");
}

std::vector<int> ReduceScatterStep::peers(const Schedule& schedule, int rank) const {
    const Grid& grid = schedule.grid;
    const Axis axis = partial_axis(tensor_of(schedule, in));
    if (wire == Wire::bfloat16) return peers_along(grid, axis, rank);
    return ring_peers(grid.coordinate(rank, axis), grid.extent(axis),
                      [&](int position) { return grid.neighbour(rank, axis, position); });
}

std::vector<int> ReduceScatterStep::group(const Schedule& schedule, int rank) const {
    const Axis axis = partial_axis(tensor_of(schedule, in));
    std::vector<int> ranks;
    ranks.reserve(static_cast<std::size_t>(schedule.grid.extent(axis)));
    for (int i = 0; i < schedule.grid.extent(axis); ++i) ranks.push_back(schedule.grid.neighbour(rank, axis, i));
    return ranks;
}

Message ReduceScatterStep::between(const Schedule& schedule, const GraphStats& /*graph*/, int from, int to) const {
    const Tensor& tensor = tensor_of(schedule, in);
    const Axis axis = partial_axis(tensor);
    const int extent = schedule.grid.extent(axis);
    const int own = schedule.grid.coordinate(from, axis);
    const Block whole = block_of(schedule, in, from);
    if (wire == Wire::bfloat16) {
        const std::int64_t rows = balanced_block(whole.rows, schedule.grid.coordinate(to, axis), extent).size();
        return one_message(from, to, wire_bytes(wire, rows * whole.columns.size()));
    }
    const bool next = schedule.grid.neighbour(from, axis, (own + 1) % extent) == to;
    if (!next || whole.columns.empty()) return messages(from, to, 0, 0);
    const std::int64_t kept = balanced_block(whole.rows, own, extent).size();
    const std::int64_t full = std::min<std::int64_t>(extent, whole.rows.size());
    return messages(from, to, bytes_of(tensor.dtype, (whole.rows.size() - kept) * whole.columns.size()),
                    full - (kept > 0 ? 1 : 0));
}

// The largest block, or in bf16 one that is sent and one that arrives.
Staging ReduceScatterStep::staging(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    const Tensor& tensor = tensor_of(schedule, in);
    const Block whole = block_of(schedule, in, rank);
    const Axis axis = partial_axis(tensor);
    const std::int64_t largest = balanced_block(whole.rows, 0, schedule.grid.extent(axis)).size();
    if (wire == Wire::bfloat16) {
        const std::int64_t bytes = wire_bytes(wire, largest * whole.columns.size());
        return {bytes, bytes};
    }
    return {0, bytes_of(tensor.dtype, largest * whole.columns.size())};
}

RankWork ReduceScatterStep::work(const Schedule& schedule, const GraphStats& graph, int rank) const {
    if (wire == Wire::fp32)
        return streamed(schedule, *this, rank, ElementwiseKind::copy, staging(schedule, graph, rank));
    RankWork work;
    work.streamed_bytes = 2 * block_bytes(schedule, out, rank);  // its own summands
    for (const int peer : peers(schedule, rank)) {
        work.narrowed_bytes += rounded_bytes(between(schedule, graph, rank, peer).bytes);
        work.widened_bytes += added_bytes(between(schedule, graph, peer, rank).bytes);
    }
    return work;
}

}  // namespace gnnplan
