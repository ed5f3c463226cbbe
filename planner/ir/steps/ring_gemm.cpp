#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/peers.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/ring_tiles.hpp>
#include <gnnplan/ir/work.hpp>

#include <algorithm>
#include <utility>

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

// Elements that a rank has of the first tiles that the others of its y-group multiply; later tiles are no larger.
std::int64_t pieces_of_others(const Schedule& schedule, const RingGemmStep& step, TensorId id, int rank) {
    std::int64_t rows = 0;
    for (const int peer : step.peers(schedule, rank)) rows += step.tile(schedule, peer, 0).size();
    return rows * columns_on(schedule, id, rank);
}

}  // namespace

Range RingGemmStep::tile(const Schedule& schedule, int rank, int t) const {
    return balanced_block(rows_multiplied(schedule, in, rank), t, ring_tiles(schedule.grid));
}

std::int64_t RingGemmStep::arriving(const Schedule& schedule, int rank, int t) const {
    return tile(schedule, rank, t).size() * columns_elsewhere(schedule, in, rank);
}

std::int64_t RingGemmStep::leaving(const Schedule& schedule, int rank, int t) const {
    return tile(schedule, rank, t).size() * columns_elsewhere(schedule, out, rank);
}

RingBuffers RingGemmStep::buffers(const Schedule& schedule, int rank) const {
    const bool rounds = wire == Wire::bfloat16;
    std::int64_t end = 0;
    const auto take = [&](Wire as, std::int64_t elements) {
        return std::exchange(end, end + aligned(wire_bytes(as, elements)));
    };
    const auto tiles = [&](std::int64_t first, std::int64_t second) {
        const std::int64_t one = take(Wire::fp32, first);
        return std::array{one, rounds ? one : take(Wire::fp32, second)};
    };
    RingBuffers buffers;
    buffers.made = tiles(leaving(schedule, rank, 0), leaving(schedule, rank, 1));
    if (rounds) {
        buffers.results_sent = take(wire, leaving(schedule, rank, 0));
        buffers.pieces_sent = take(wire, pieces_of_others(schedule, *this, in, rank));
    }
    buffers.send_bytes = end;
    buffers.multiplied = tiles(arriving(schedule, rank, 0), arriving(schedule, rank, 1));
    if (rounds) {
        buffers.tile_received = take(wire, arriving(schedule, rank, 0));
        buffers.pieces_received = take(wire, pieces_of_others(schedule, *this, out, rank));
    }
    buffers.receive_bytes = end - buffers.send_bytes;
    return buffers;
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
        message.bytes += wire_bytes(wire, rows * columns);
        message.count += columns > 0 ? std::min<std::int64_t>(rows, ring_tiles(schedule.grid)) : 0;
    };
    add_tiles(rows_multiplied(schedule, in, to).size(), columns_on(schedule, in, from));
    add_tiles(rows_multiplied(schedule, in, from).size(), columns_on(schedule, out, to));
    return message;
}

Staging RingGemmStep::staging(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    const RingBuffers divided = buffers(schedule, rank);
    return {divided.send_bytes, divided.receive_bytes};
}

// Whole rows are multiplied by blocks of W: by its rows for those columns that one rank has of the operand, and by its
// columns for those that one rank has of the result.
RankWork RingGemmStep::work(const Schedule& schedule, const GraphStats& graph, int rank) const {
    const Tensor& w = tensor_of(schedule, weight);
    const auto rows = static_cast<double>(rows_multiplied(schedule, in, rank).size());
    const auto largest = [&](std::int64_t extent) { return balanced_block({0, extent}, 0, schedule.grid.y).size(); };
    RankWork work;
    work.dense_flops = 2.0 * rows * static_cast<double>(w.rows) * static_cast<double>(w.columns);
    work.product = GemmKind::forward;
    work.inner = largest(w.rows);
    work.columns = largest(w.columns);
    if (wire == Wire::fp32) return work;
    for (const int peer : peers(schedule, rank)) {
        work.narrowed_bytes += rounded_bytes(between(schedule, graph, rank, peer).bytes);
        work.widened_bytes += rounded_bytes(between(schedule, graph, peer, rank).bytes);
    }
    return work;
}

}  // namespace gnnplan
