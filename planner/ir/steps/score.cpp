#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/streamed.hpp"

namespace gnnplan {

void ScoreStep::check(const StepCheck& step) const {
    step.labelled(logits, labels, subset, known), step.in_layout(logits, layout_r());
    const std::int64_t before = numbers(step.schedule());
    const bool without_loss = before == classified && step.at(counts).columns == before;
    step.scalar(counts, without_loss ? before : before + 1);
}

std::int64_t ScoreStep::numbers(const Schedule& schedule) const {
    return tensor_of(schedule, labels).dtype == DType::bits ? decided : classified;
}

bool ScoreStep::adds_loss(const Schedule& schedule) const {
    return tensor_of(schedule, counts).columns > numbers(schedule);
}

RankWork ScoreStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    return streamed(schedule, *this, rank, ElementwiseKind::score);
}

}  // namespace gnnplan
