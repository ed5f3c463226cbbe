#include <gnnplan/base/overloaded.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

Staging of_redistribution(const Schedule& schedule, const RedistributeStep& step, int rank) {
    Staging staging;
    const Tensor& tensor = tensor_of(schedule, step.in);
    if (same_placement(tensor.layout, layout_f(), schedule.grid)) return staging;
    const Block source = block_of(schedule, step.in, rank);
    const Block target = block_of(schedule, step.out, rank);
    const auto staged = [&](const Block& part, const Block& whole) {
        const bool in_place = tensor.dtype != DType::bits && contiguous_in(part, whole);
        return in_place ? 0 : bytes_of(tensor.dtype, part.count());
    };
    const int first = rank / schedule.grid.y * schedule.grid.y;
    for (int peer = first; peer < first + schedule.grid.y; ++peer) {
        if (peer == rank) continue;
        staging.send_bytes += staged(intersect(source, block_of(schedule, step.out, peer)), source);
        staging.receive_bytes += staged(intersect(target, block_of(schedule, step.in, peer)), target);
    }
    return staging;
}

Staging of_reduce_scatter(const Schedule& schedule, const ReduceScatterStep& step, int rank) {
    const Block whole = block_of(schedule, step.in, rank);
    const int extent = schedule.grid.extent(partial_axis(tensor_of(schedule, step.in)));
    const std::int64_t largest = balanced_block(whole.rows, 0, extent).size();
    return {0, bytes_of(tensor_of(schedule, step.in).dtype, largest * whole.columns.size())};
}

// A maximum and a sum for each row, this rank's and those of its peers.
Staging of_loss(const Schedule& schedule, const LossStep& step, int rank) {
    if (!column_parallel(schedule, step)) return {};
    const std::int64_t bytes = 8 * block_of(schedule, step.logits, rank).rows.size();
    return {bytes, bytes * (schedule.grid.y - 1)};
}

// The most that one stage packs; bytes(peer, columns) of the rows that a peer needs of a piece.
template <class Bytes>
std::int64_t packed_rows(const Schedule& schedule, const Tensor& matrix, int rank, Bytes bytes) {
    const Grid& grid = schedule.grid;
    std::int64_t most = 0;
    const bool one_peer_each = !gathers_matrix(grid, matrix) && contraction_axis(grid, matrix) != Axis::y;
    if (one_peer_each) {
        for (int ix = 0; ix < grid.x; ++ix) {
            const int peer = grid.neighbour(rank, Axis::x, ix);
            if (peer == rank) continue;
            for (const Piece& piece : pieces_of(grid, matrix, rank, peer))
                most = std::max(most, bytes(peer, piece.columns));
        }
        return most;
    }
    for (const Stage& stage : stages_of(grid, matrix, rank)) {
        std::int64_t packed = 0;
        for (const Stage::Service& served : stage.rows) packed += bytes(served.rank, served.columns);
        most = std::max(most, packed);
    }
    return most;
}

}  // namespace

PackedPanel packed_panel(const Schedule& schedule, const SpmmStep& step, int rank) {
    PackedPanel largest;
    const Tensor& matrix = tensor_of(schedule, step.matrix);
    if (!packs_panels(step.exchange, step.overlap)) return largest;
    const std::int64_t width = block_of(schedule, step.in, rank).columns.size();
    for (const Piece& piece : pieces_of(schedule.grid, matrix, rank)) {
        const PackedPanel packed = packed_panel(piece.columns.size(), matrix.panel_columns, width, step.bf16);
        if (packed.rows > largest.rows) largest = packed;
    }
    return largest;
}

SpmmBuffers spmm_buffers(const Schedule& schedule, const SpmmStep& step, const GraphStats& graph, int rank) {
    const Tensor& matrix = tensor_of(schedule, step.matrix);
    const std::int64_t width = block_of(schedule, step.in, rank).columns.size();
    const bool needed_rows = step.exchange == Exchange::rows;
    const auto own_rows = [&](int of) { return block_of(schedule, step.matrix, of).rows; };
    const auto dense_bytes = [&](int of, Range columns) {
        return 4 * width *
               (needed_rows ? graph.distinct_columns(matrix.transposed, own_rows(of), columns) : columns.size());
    };
    SpmmBuffers buffers;
    buffers.panel = aligned(packed_panel(schedule, step, rank).bytes());
    if (!gathers_rows(schedule.grid) && !gathers_matrix(schedule.grid, matrix)) return buffers;
    buffers.packs = step.overlap ? matrix.splits : 1;
    buffers.copies = step.overlap ? matrix.splits + 1 : 1;
    for (const Piece& piece : pieces_of(schedule.grid, matrix, rank)) {
        if (piece.dense_root != rank) buffers.dense = std::max(buffers.dense, dense_bytes(rank, piece.columns));
        if (piece.matrix_root == rank) continue;
        const Range rows = own_rows(rank);
        const std::int64_t nonzeros = graph.block_nonzeros(matrix.transposed, rows, piece.columns);
        buffers.nonzeros = std::max(buffers.nonzeros, sparse_bytes(matrix, rows, piece.columns, nonzeros));
    }
    if (needed_rows) buffers.pack = packed_rows(schedule, matrix, rank, dense_bytes);
    buffers.pack = aligned(buffers.pack);
    buffers.dense = aligned(buffers.dense);
    buffers.nonzeros = aligned(buffers.nonzeros);
    return buffers;
}

Staging staging_of(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank) {
    return std::visit(Overloaded{
                          [&](const RedistributeStep& s) { return of_redistribution(schedule, s, rank); },
                          [&](const SpmmStep& s) {
                              const SpmmBuffers buffers = spmm_buffers(schedule, s, graph, rank);
                              return Staging{buffers.packs * buffers.pack,
                                             buffers.copies * (buffers.dense + buffers.nonzeros) + buffers.panel};
                          },
                          [&](const ReduceScatterStep& s) { return of_reduce_scatter(schedule, s, rank); },
                          [&](const LossStep& s) { return of_loss(schedule, s, rank); },
                          [](const IndexStep&) { return Staging{}; },
                          [](const GemmStep&) { return Staging{}; },
                          [](const WeightGradStep&) { return Staging{}; },
                          [](const AllReduceStep&) { return Staging{}; },
                          [](const MapStep&) { return Staging{}; },
                          [](const ScoreStep&) { return Staging{}; },
                          [](const UpdateStep&) { return Staging{}; },
                      },
                      step.operation);
}

}  // namespace gnnplan
