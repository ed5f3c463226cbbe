#include "planner/ir/step_check.hpp"
#include "planner/ir/steps/streamed.hpp"

#include <array>

namespace gnnplan {

void UpdateStep::check(const StepCheck& step) const {
    step.with_role(weight, {Role::weight, Role::bias}), step.with_role(gradient, {Role::transient});
    const std::array moments = {moment1, moment2};
    for (std::size_t i = 0; i < moments.size(); ++i) {
        step.require(moments[i].has_value() != rule_of(rule).state[i].empty(), "it has not what its rule remembers");
        if (moments[i]) step.with_role(*moments[i], {Role::moment}), step.same_shape(*moments[i], weight);
    }
    step.require(!moment1 || moment1 != moment2, "both moments are the same tensor");
    step.typed(gradient, DType::f32), step.in_layout(gradient, layout_partial()), step.same_shape(gradient, weight);
}

RankWork UpdateStep::work(const Schedule& schedule, const GraphStats& /*graph*/, int rank) const {
    return streamed(schedule, *this, rank, ElementwiseKind::update);
}

}  // namespace gnnplan
