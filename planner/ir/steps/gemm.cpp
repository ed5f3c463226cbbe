#include "planner/ir/step_check.hpp"

#include <gnnplan/ir/work.hpp>

namespace gnnplan {

void GemmStep::check(const StepCheck& step) const {
    step.dense(in), step.dense(out), step.written(out), step.distinct(in, out);
    step.multiplier(weight);
    const bool by_rows = step.placed(in, layout_r()) && step.placed(out, layout_r());
    const bool by_columns = step.placed(in, layout_f()) && step.placed(out, layout_c()) && !transposed;
    step.require(by_rows || by_columns, "an operand is in the wrong layout");
    const Tensor& w = step.at(weight);
    step.shaped(in, step.at(out).rows, transposed ? w.columns : w.rows);
    step.shaped(out, step.at(in).rows, transposed ? w.rows : w.columns);
}

RankWork GemmStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    const Block result = block_of(schedule, out, rank);
    const std::int64_t in_columns = tensor_of(schedule, in).columns;
    RankWork work;
    work.dense_flops = 2.0 * static_cast<double>(result.count()) * static_cast<double>(in_columns);
    work.product = transposed ? GemmKind::input_gradient : GemmKind::forward;
    work.inner = transposed ? result.columns.size() : in_columns;
    work.columns = transposed ? in_columns : result.columns.size();
    if (accumulate) work.streamed_bytes = block_bytes(schedule, out, rank);  // it is read besides
    return work;
}

}  // namespace gnnplan
