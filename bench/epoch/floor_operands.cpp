#include "bench/epoch/floor_operands.hpp"

#include "planner/ir/steps/product_work.hpp"

#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/work.hpp>

#include <cmath>
#include <map>

namespace gnnplan::bench {
namespace {

class Counter {
public:
    Counter(const Schedule& schedule, const GraphStats& graph, int rank)
        : schedule_(schedule), graph_(graph), rank_(rank) {}

    StepAccesses of(const Operation& operation) const {
        if (const SpmmStep* product = product_of(operation)) return of(*product);
        if (const std::optional<TensorId> moved = redistributed(operation)) return of_redistribution(operation, *moved);
        const Operands operands = operands_of(operation);
        StepAccesses accesses;
        add(accesses.reads, operands.reads), add(accesses.writes, operands.writes);
        if (const auto* loss = std::get_if<LossStep>(&operation)) read_training_rows(accesses, *loss);
        return accesses;
    }

private:
    StepAccesses of(const SpmmStep& product) const {
        const Tensor& matrix = tensor_of(schedule_, product.matrix);
        const Range rows = block_of(schedule_, product.matrix, rank_).rows;
        const std::int64_t nonzeros = multiplied_nonzeros(schedule_, product.matrix, graph_, rank_);
        std::int64_t columns = 0, distinct = 0;
        for (const Piece& piece : pieces_of(schedule_.grid, matrix, rank_)) {
            columns += piece.columns.size();
            distinct += graph_.distinct_columns(matrix.matrix(), rows, piece.columns);
        }
        StepAccesses accesses;
        const TensorId stored = matrix.structure.value_or(product.matrix);
        accesses.reads.push_back({stored, sparse_bytes(schedule_.blocking, matrix, rows, {0, columns}, nonzeros)});
        for (const TensorId in : product.column_operands)
            accesses.reads.push_back({in, 4 * distinct * block_of(schedule_, in, rank_).columns.size()});
        add(accesses.reads, product.row_operands), add(accesses.writes, product.results);
        return accesses;
    }
    StepAccesses of_redistribution(const Operation& operation, TensorId in) const {
        const TensorId out = operands_of(operation).writes.front();
        return {{{in, bytes(out)}}, {{out, bytes(out)}}};
    }
    void read_training_rows(StepAccesses& accesses, const LossStep& loss) const {
        const RankWork work = loss.work(schedule_, graph_, rank_);
        for (Access& read : accesses.reads) {
            if (read.tensor != loss.logits || work.loss_rows == 0) continue;
            read.bytes = std::llround(static_cast<double>(read.bytes) * work.training_rows / work.loss_rows);
        }
    }
    // Adjacencies are not read for their nonzeros but by products.
    void add(std::vector<Access>& accesses, const std::vector<TensorId>& ids) const {
        for (const TensorId id : ids) {
            if (tensor_of(schedule_, id).role != Role::adjacency) accesses.push_back({id, bytes(id)});
        }
    }
    std::int64_t bytes(TensorId id) const {
        return bytes_of(tensor_of(schedule_, id).dtype, elements_of(schedule_, id, graph_, rank_));
    }

    const Schedule& schedule_;
    const GraphStats& graph_;
    int rank_;
};

// Epochs follow each other: the second time round, all operands have been used before.
void find_distances(std::vector<StepAccesses>& steps) {
    std::map<TensorId, std::int64_t> last;
    std::int64_t touched = 0;
    for (int epoch = 0; epoch < 2; ++epoch) {
        for (StepAccesses& step : steps) {
            const std::int64_t before = touched;
            for (Access& read : step.reads) touched += read.bytes;
            for (Access& read : step.reads) {
                const auto found = last.find(read.tensor);
                read.distance = found == last.end() ? touched : touched - found->second;
            }
            for (const Access& read : step.reads) last[read.tensor] = before;
            for (const Access& write : step.writes) last[write.tensor] = before, touched += write.bytes;
        }
    }
}

}  // namespace

std::vector<StepAccesses> accesses_of(const Schedule& schedule, const GraphStats& graph, int rank,
                                      bool drops_features) {
    const Counter counter(schedule, graph, rank);
    std::vector<StepAccesses> steps;
    steps.reserve(schedule.steps.size());
    for (const Step& step : schedule.steps) {
        const bool alone = summed(step.operation) && exchange_group(schedule, step.operation, rank).size() == 1;
        const bool idle = alone || (dropped_features(step.operation) && !drops_features);
        const bool counts = step.phase == Phase::epoch && !idle;
        steps.push_back(counts ? counter.of(step.operation) : StepAccesses{});
    }
    find_distances(steps);
    return steps;
}

}  // namespace gnnplan::bench
