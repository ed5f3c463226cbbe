#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/streamed.hpp"

namespace gnnplan {

void ScoreStep::check(const StepCheck& step) const {
    step.labelled(logits, labels, subset), step.scalar(counts, step.at(counts).columns == 3 ? 3 : 4),
        step.in_layout(logits, layout_r());
}

RankWork ScoreStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    return streamed(schedule, *this, rank, ElementwiseKind::score);
}

}  // namespace gnnplan
