#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/streamed.hpp"

namespace gnnplan {

void ScoreStep::check(const StepCheck& step) const {
    step.labelled(logits, labels, subset), step.in_layout(logits, layout_r());
    step.scalar(counts, step.at(counts).columns == numbers ? numbers : values);
}

bool ScoreStep::adds_loss(const Schedule& schedule) const { return tensor_of(schedule, counts).columns == values; }

RankWork ScoreStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    return streamed(schedule, *this, rank, ElementwiseKind::score);
}

}  // namespace gnnplan
