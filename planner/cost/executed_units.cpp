#include "planner/cost/executed_units.hpp"

#include <algorithm>

namespace gnnplan::cost {

Units executed_units(const Schedule& schedule) {
    // Where rows are pruned, a step counts by the rows it has: those of what moves, or the shorter side of the matrix.
    const std::int64_t vertices = schedule.spaces.front().rows;
    const auto share = [&](std::int64_t rows) { return static_cast<double>(rows) / static_cast<double>(vertices); };
    Units units;
    for (const Step& step : schedule.steps) {
        if (step.phase != Phase::epoch) continue;
        const Tensor& subject = tensor_of(schedule, subject_of(step.operation));
        const auto width = static_cast<double>(subject.columns);
        if (const SpmmStep* spmm = product_of(step.operation)) {
            const Tensor& matrix = tensor_of(schedule, spmm->matrix);
            const auto operands = static_cast<double>(spmm->column_operands.size());
            units.sparse += width * operands * share(std::min(matrix.rows, matrix.columns));
        }
        if (redistributed(step.operation)) {
            units.redistribution += width * share(subject.rows) / (subject.dtype == DType::bits ? 32 : 1);
        }
        for (const TensorId id : tiled(step.operation)) {
            const Tensor& moved = tensor_of(schedule, id);
            units.redistribution += static_cast<double>(moved.columns) * share(moved.rows);
        }
    }
    return units;
}

}  // namespace gnnplan::cost
