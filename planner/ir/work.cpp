#include <gnnplan/base/overloaded.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/work.hpp>

#include <algorithm>
#include <array>

namespace gnnplan {
namespace {

double count(const Block& block) { return static_cast<double>(block.count()); }

std::int64_t divided_up(std::int64_t total, std::int64_t parts) { return (total + parts - 1) / parts; }

// Nonzeros that a rank multiplies: those of its rows in the columns of its pieces.
std::int64_t local_nonzeros(const Schedule& schedule, const Tensor& matrix, const GraphStats& graph, int rank,
                            Range rows) {
    if (!contraction_axis(schedule.grid, matrix))
        return graph.block_nonzeros(matrix.transposed, rows, {0, matrix.columns});
    std::int64_t nonzeros = 0;
    for (const Piece& piece : pieces_of(schedule.grid, matrix, rank)) {
        nonzeros += graph.block_nonzeros(matrix.transposed, rows, piece.columns);
    }
    return nonzeros;
}

RankWork spmm(const Schedule& schedule, const SpmmStep& step, const GraphStats& graph, int rank) {
    const Block out = block_of(schedule, step.out, rank);
    RankWork work;
    work.sparse_width = out.columns.size();
    const auto nonzeros =
        static_cast<double>(local_nonzeros(schedule, tensor_of(schedule, step.matrix), graph, rank, out.rows));
    work.sparse_flops = 2.0 * nonzeros * static_cast<double>(work.sparse_width);
    return work;
}

RankWork gemm(const Schedule& schedule, const GemmStep& step, int rank) {
    const Block out = block_of(schedule, step.out, rank);
    const std::int64_t in_columns = tensor_of(schedule, step.in).columns;
    RankWork work;
    work.dense_flops = 2.0 * count(out) * static_cast<double>(in_columns);
    work.product = step.transposed ? Product::input_gradient : Product::forward;
    work.inner = step.transposed ? out.columns.size() : in_columns;
    work.columns = step.transposed ? in_columns : out.columns.size();
    return work;
}

RankWork weight_grad(const Schedule& schedule, const WeightGradStep& step, int rank) {
    const Block left = block_of(schedule, step.left, rank);
    RankWork work;
    work.product = Product::weight_gradient;
    work.inner = left.columns.size();
    work.columns = block_of(schedule, step.right, rank).columns.size();
    work.dense_flops = 2.0 * count(left) * static_cast<double>(work.columns);
    return work;
}

Stream stream_of(const MapStep& step) {
    switch (step.op) {
        case MapOp::activate: return step.dropout ? Stream::activate_dropout : Stream::activate;
        case MapOp::dropout: return Stream::dropout;
        case MapOp::positive_mask: return Stream::positive_mask;
        case MapOp::apply_mask: return Stream::apply_mask;
        case MapOp::column_sum: return Stream::column_sum;
    }
    return Stream::copy;
}

// Reads of every operand and writes of every result, each byte once; each staged byte is written and read.
RankWork streamed(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank, Stream stream) {
    RankWork work;
    work.stream = stream;
    const Operands operands = operands_of(step.operation);
    for (const auto* ids : {&operands.reads, &operands.writes}) {
        for (const TensorId id : *ids) work.streamed_bytes += block_bytes(schedule, id, rank);
    }
    const Staging staging = staging_of(schedule, step, graph, rank);
    work.staged_bytes = 2 * (staging.send_bytes + staging.receive_bytes);
    return work;
}

// Training vertices are alike over the rows, unless those come first that the loss needs.
RankWork loss(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank) {
    const auto& operation = std::get<LossStep>(step.operation);
    const Block logits = block_of(schedule, operation.logits, rank);
    const auto training = static_cast<double>(graph.training_vertices());
    RankWork work = streamed(schedule, step, graph, rank, Stream::loss);
    work.columns = logits.columns.size();
    work.loss_rows = static_cast<double>(logits.rows.size());
    work.training_rows = schedule.numbering.loss_layers > 0
                             ? static_cast<double>(intersect(logits.rows, {0, graph.training_vertices()}).size())
                             : work.loss_rows * training / static_cast<double>(graph.vertices());
    if (column_parallel(schedule, operation)) work.passes = 2;
    return work;
}

}  // namespace

RankWork work_of(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank) {
    const auto stream = [&](Stream what) { return streamed(schedule, step, graph, rank, what); };
    return std::visit(Overloaded{
                          [&](const SpmmStep& s) { return spmm(schedule, s, graph, rank); },
                          [&](const GemmStep& s) { return gemm(schedule, s, rank); },
                          [&](const WeightGradStep& s) { return weight_grad(schedule, s, rank); },
                          [](const IndexStep&) { return RankWork{}; },
                          [&](const RedistributeStep&) { return stream(Stream::copy); },
                          [&](const ReduceScatterStep&) { return stream(Stream::copy); },
                          [&](const AllReduceStep&) { return stream(Stream::copy); },
                          [&](const MapStep& s) { return stream(stream_of(s)); },
                          [&](const LossStep&) { return loss(schedule, step, graph, rank); },
                          [&](const ScoreStep&) { return stream(Stream::score); },
                          [&](const UpdateStep&) { return stream(Stream::update); },
                      },
                      step.operation);
}

namespace {

// Of a rank's pieces, some that are about equal.
struct AlikePieces {
    std::int64_t columns = 0;
    std::int64_t count = 0;
};

// Those of a rank: its own block of the columns, which stays whole where those of others are split, and the others.
std::array<AlikePieces, 2> alike_pieces(const Schedule& schedule, const Tensor& matrix, int rank) {
    std::array<AlikePieces, 2> kinds;
    for (const Piece& piece : pieces_of(schedule.grid, matrix, rank)) {
        if (piece.columns.empty()) continue;
        AlikePieces& kind = kinds[matrix.splits > 1 && piece.dense_root != rank ? 1 : 0];
        kind.columns += piece.columns.size();
        ++kind.count;
    }
    return kinds;
}

}  // namespace

ProductReuse reuse_of(const Schedule& schedule, const SpmmStep& step, const GraphStats& graph, int rank) {
    const Tensor& matrix = tensor_of(schedule, step.matrix);
    const Range rows = block_of(schedule, step.out, rank).rows;
    const std::array<AlikePieces, 2> kinds = alike_pieces(schedule, matrix, rank);
    const std::int64_t columns = kinds[0].columns + kinds[1].columns;
    ProductReuse reuse;
    reuse.rows = static_cast<double>(rows.size());
    if (columns == 0 || rows.empty()) return reuse;
    reuse.packed = packed_panel(schedule, step, rank);
    if (reuse.packed.rows > 0) {
        const std::int64_t elements = columns * block_of(schedule, step.in, rank).columns.size();
        reuse.packing_bytes = (4 + reuse.packed.element_bytes) * elements;
    }
    reuse.pieces = 0;
    for (const AlikePieces& kind : kinds) {
        if (kind.count == 0) continue;
        const std::int64_t each = divided_up(kind.columns, kind.count);
        const std::int64_t panel = divided_up(each, panel_count(each, matrix.panel_columns));
        const double weight = static_cast<double>(kind.columns) / static_cast<double>(columns);
        reuse.histogram.add(graph.reuse(matrix.transposed, rows, {0, matrix.columns}, panel), weight);
        reuse.pieces += weight * static_cast<double>(matrix.columns) / static_cast<double>(each);
    }
    const auto all = static_cast<double>(graph.block_nonzeros(matrix.transposed, rows, {0, matrix.columns}));
    if (all > 0) reuse.share = static_cast<double>(local_nonzeros(schedule, matrix, graph, rank, rows)) / all;
    return reuse;
}

double sparse_imbalance(const Schedule& schedule, const GraphStats& graph) {
    double busiest = 0;
    double sum = 0;
    for (int rank = 0; rank < schedule.grid.size(); ++rank) {
        double flops = 0;
        for (const Step& step : schedule.steps) {
            const bool product = std::holds_alternative<SpmmStep>(step.operation) && step.phase == Phase::epoch;
            if (product) flops += work_of(schedule, step, graph, rank).sparse_flops;
        }
        busiest = std::max(busiest, flops);
        sum += flops;
    }
    return sum > 0 ? busiest * schedule.grid.size() / sum : 1;
}

}  // namespace gnnplan
