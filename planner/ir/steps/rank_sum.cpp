#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/streamed.hpp"

#include <algorithm>
#include <bit>

namespace gnnplan {

void RankSumStep::check(const StepCheck& step) const {
    step.labelled(logits, labels, subset, known), step.in_layout(logits, layout_columns());
    step.require(step.at(labels).dtype == DType::bits, "ranks are of several labels");
    step.written(order), step.typed(order, DType::f64), step.same_shape(order, logits);
    step.in_layout(order, layout_columns());
    step.written(sums), step.typed(sums, DType::f64), step.shaped(sums, rows, step.at(logits).columns);
    step.in_layout(sums, layout_partial());
}

// A sort passes a column about log2(rows) times.
RankWork RankSumStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    RankWork work = streamed(schedule, *this, rank, ElementwiseKind::score);
    const auto passes = static_cast<std::int64_t>(
        std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(1, tensor_of(schedule, logits).rows))));
    work.streamed_bytes += 2 * passes * block_bytes(schedule, order, rank);
    return work;
}

}  // namespace gnnplan
