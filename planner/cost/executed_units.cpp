#include "planner/cost/executed_units.hpp"

namespace gnnplan::cost {

Units executed_units(const Schedule& schedule) {
    Units units;
    for (const Step& step : schedule.steps) {
        if (step.phase != Phase::epoch) continue;
        const Tensor& subject = tensor_of(schedule, subject_of(step.operation));
        const auto width = static_cast<double>(subject.columns);
        if (std::holds_alternative<SpmmStep>(step.operation)) units.sparse += width;
        if (std::holds_alternative<RedistributeStep>(step.operation)) {
            units.redistribution += subject.dtype == DType::bits ? width / 32 : width;
        }
    }
    return units;
}

}  // namespace gnnplan::cost
