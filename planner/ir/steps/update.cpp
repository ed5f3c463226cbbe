#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/streamed.hpp"

namespace gnnplan {

void UpdateStep::check(const StepCheck& step) const {
    step.with_role(weight, {Role::weight, Role::bias}), step.with_role(gradient, {Role::transient});
    for (const TensorId id : {moment1, moment2}) {
        step.with_role(id, {Role::moment}), step.same_shape(id, weight);
    }
    step.distinct(moment1, moment2);
    step.typed(gradient, DType::f32), step.in_layout(gradient, layout_partial()), step.same_shape(gradient, weight);
}

RankWork UpdateStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    return streamed(schedule, *this, rank, Stream::update);
}

}  // namespace gnnplan
