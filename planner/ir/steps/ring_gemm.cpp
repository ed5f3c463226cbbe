#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/ring_tiles.hpp>
#include <gnnplan/ir/work.hpp>

#include <algorithm>

namespace gnnplan {

namespace {

std::int64_t columns_on(const Schedule& schedule, TensorId id, int rank) {
    return block_of(schedule, id, rank).columns.size();
}

// The columns of a matrix that are on other ranks.
std::int64_t columns_elsewhere(const Schedule& schedule, TensorId id, int rank) {
    return tensor_of(schedule, id).columns - columns_on(schedule, id, rank);
}

// The rows that a rank multiplies.
Range rows_multiplied(const Schedule& schedule, TensorId id, int rank) {
    return split_block(tensor_of(schedule, id).rows, layout_r().rows, schedule.grid, rank);
}

// Two buffers take turns: tiles do not grow.
template <class Bytes>
std::int64_t two_buffers(const Bytes& bytes) {
    return aligned(bytes(0)) + aligned(bytes(1));
}

}  // namespace

Range RingGemmStep::tile(const Schedule& schedule, int rank, int t) const {
    return balanced_block(rows_multiplied(schedule, in, rank), t, ring_tiles(schedule.grid));
}

std::int64_t RingGemmStep::arriving_bytes(const Schedule& schedule, int rank, int t) const {
    return bytes_of(DType::f32, tile(schedule, rank, t).size() * columns_elsewhere(schedule, in, rank));
}

std::int64_t RingGemmStep::leaving_bytes(const Schedule& schedule, int rank, int t) const {
    return bytes_of(DType::f32, tile(schedule, rank, t).size() * columns_elsewhere(schedule, out, rank));
}

void RingGemmStep::check(const StepCheck& step) const {
    step.dense(in), step.dense(out), step.written(out), step.distinct(in, out);
    step.multiplier(weight);
    step.require(step.grid().y > 1, "there is nobody to exchange tiles with");
    step.in_layout(in, layout_c()), step.in_layout(out, layout_c());
    const Tensor& w = step.at(weight);
    step.shaped(in, step.at(out).rows, w.rows), step.shaped(out, step.at(in).rows, w.columns);
    step.require(step.at(in).space == step.at(out).space, "operands are about different rows");
}

std::vector<int> RingGemmStep::peers(const Schedule& schedule, int rank) const {
    return peers_along(schedule.grid, Axis::y, rank);
}

// A message for each tile that is not empty.
Message RingGemmStep::between(const Schedule& schedule, const GraphStats& /*graph*/, int from, int to) const {
    Message message{from, to, 0, 0};
    const auto add_tiles = [&](std::int64_t rows, std::int64_t columns) {
        message.bytes += bytes_of(DType::f32, rows * columns);
        message.count += columns > 0 ? std::min<std::int64_t>(rows, ring_tiles(schedule.grid)) : 0;
    };
    add_tiles(rows_multiplied(schedule, in, to).size(), columns_on(schedule, in, from));
    add_tiles(rows_multiplied(schedule, in, from).size(), columns_on(schedule, out, to));
    return message;
}

Staging RingGemmStep::staging(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    return {two_buffers([&](int t) { return leaving_bytes(schedule, rank, t); }),
            two_buffers([&](int t) { return arriving_bytes(schedule, rank, t); })};
}

// Whole rows are multiplied by blocks of W: by its rows for those columns that one rank has of the operand, and by its
// columns for those that one rank has of the result.
RankWork RingGemmStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    const Tensor& w = tensor_of(schedule, weight);
    const auto rows = static_cast<double>(rows_multiplied(schedule, in, rank).size());
    const auto largest = [&](std::int64_t extent) { return balanced_block({0, extent}, 0, schedule.grid.y).size(); };
    RankWork work;
    work.dense_flops = 2.0 * rows * static_cast<double>(w.rows) * static_cast<double>(w.columns);
    work.product = GemmKind::forward;
    work.inner = largest(w.rows);
    work.columns = largest(w.columns);
    return work;
}

}  // namespace gnnplan
