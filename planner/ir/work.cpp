#include <gnnplan/base/overloaded.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/work.hpp>

namespace gnnplan {
namespace {

double count(const Block& block) { return static_cast<double>(block.count()); }

RankWork spmm(const Schedule& schedule, const SpmmStep& step, const GraphStats& graph, int rank) {
    const Tensor& matrix = tensor_of(schedule, step.matrix);
    const Block out = block_of(schedule, step.out, rank);
    RankWork work;
    work.sparse_width = out.columns.size();
    work.sparse_flops = 2.0 * static_cast<double>(graph.row_nonzeros(matrix.transposed, out.rows)) *
                        static_cast<double>(work.sparse_width);
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
    work.dense_flops =
        2.0 * count(block_of(schedule, step.left, rank)) * static_cast<double>(tensor_of(schedule, step.right).columns);
    return work;
}

// Reads of every operand and writes of every result, each byte once; each staged byte is written and read.
RankWork streamed(const Schedule& schedule, const Step& step, const Staging& staging, int rank) {
    RankWork work;
    const Operands operands = operands_of(step.operation);
    for (const auto* ids : {&operands.reads, &operands.writes}) {
        for (const TensorId id : *ids) work.streamed_bytes += block_bytes(schedule, id, rank);
    }
    work.streamed_bytes += 2 * (staging.send_bytes + staging.receive_bytes);
    return work;
}

}  // namespace

std::vector<RankWork> work_of(const Schedule& schedule, const Step& step, const GraphStats& graph) {
    std::vector<RankWork> work;
    work.reserve(static_cast<std::size_t>(schedule.grid.size()));
    // An SpMM's panels are multiplied where they are received: nothing of them is streamed.
    const bool packs = !std::holds_alternative<SpmmStep>(step.operation);
    const std::vector<Staging> staging = packs ? staging_of(schedule, step) : std::vector<Staging>{};
    for (int rank = 0; rank < schedule.grid.size(); ++rank) {
        const auto stream = [&] { return streamed(schedule, step, staging[static_cast<std::size_t>(rank)], rank); };
        work.push_back(std::visit(Overloaded{
                                      [&](const SpmmStep& s) { return spmm(schedule, s, graph, rank); },
                                      [&](const GemmStep& s) { return gemm(schedule, s, rank); },
                                      [&](const WeightGradStep& s) { return weight_grad(schedule, s, rank); },
                                      [&](const RedistributeStep&) { return stream(); },
                                      [&](const AllReduceStep&) { return stream(); },
                                      [&](const MapStep&) { return stream(); },
                                      [&](const LossStep&) { return stream(); },
                                      [&](const ScoreStep&) { return stream(); },
                                      [&](const UpdateStep&) { return stream(); },
                                  },
                                  step.operation));
    }
    return work;
}

}  // namespace gnnplan
