#include <gnnplan/base/overloaded.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/work.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

double count(const Block& block) { return static_cast<double>(block.count()); }

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
    RankWork work;
    work.dense_flops =
        2.0 * count(block_of(schedule, step.out, rank)) * static_cast<double>(tensor_of(schedule, step.in).columns);
    return work;
}

RankWork weight_grad(const Schedule& schedule, const WeightGradStep& step, int rank) {
    RankWork work;
    const auto right_columns = static_cast<double>(block_of(schedule, step.right, rank).columns.size());
    work.dense_flops = 2.0 * count(block_of(schedule, step.left, rank)) * right_columns;
    return work;
}

// Reads of every operand and writes of every result, each byte once; each staged byte is written and read.
RankWork streamed(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank) {
    RankWork work;
    const Operands operands = operands_of(step.operation);
    for (const auto* ids : {&operands.reads, &operands.writes}) {
        for (const TensorId id : *ids) work.streamed_bytes += block_bytes(schedule, id, rank);
    }
    const Staging staging = staging_of(schedule, step, graph, rank);
    work.streamed_bytes += 2 * (staging.send_bytes + staging.receive_bytes);
    return work;
}

}  // namespace

RankWork work_of(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank) {
    const auto stream = [&] { return streamed(schedule, step, graph, rank); };
    return std::visit(Overloaded{
                          [&](const SpmmStep& s) { return spmm(schedule, s, graph, rank); },
                          [&](const GemmStep& s) { return gemm(schedule, s, rank); },
                          [&](const WeightGradStep& s) { return weight_grad(schedule, s, rank); },
                          [](const IndexStep&) { return RankWork{}; },
                          [&](const RedistributeStep&) { return stream(); },
                          [&](const ReduceScatterStep&) { return stream(); },
                          [&](const AllReduceStep&) { return stream(); },
                          [&](const MapStep&) { return stream(); },
                          [&](const LossStep&) { return stream(); },
                          [&](const ScoreStep&) { return stream(); },
                          [&](const UpdateStep&) { return stream(); },
                      },
                      step.operation);
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
