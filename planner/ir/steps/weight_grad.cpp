#include "planner/ir/step_check.hpp"

#include <gnnplan/ir/work.hpp>

namespace gnnplan {

void WeightGradStep::check(const StepCheck& step) const {
    step.dense(left), step.dense(right), step.written(gradient), step.typed(gradient, DType::f32);
    const bool by_rows = step.placed(left, layout_r()) && step.placed(right, layout_r());
    const bool by_columns = step.placed(left, layout_f()) && step.placed(right, layout_c());
    step.require(by_rows || by_columns, "an operand is in the wrong layout");
    step.in_layout(gradient, layout_partial());
    step.require(step.at(left).rows == step.at(right).rows, "operand shapes do not fit");
    step.shaped(gradient, step.at(left).columns, step.at(right).columns);
}

RankWork WeightGradStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    const Block own = block_of(schedule, left, rank);
    RankWork work;
    work.product = GemmKind::weight_gradient;
    work.inner = own.columns.size();
    work.columns = block_of(schedule, right, rank).columns.size();
    work.dense_flops = 2.0 * static_cast<double>(own.count()) * static_cast<double>(work.columns);
    return work;
}

}  // namespace gnnplan
