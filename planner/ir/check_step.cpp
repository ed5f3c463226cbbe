#include "planner/ir/step_check.hpp"

#include <variant>
#include <vector>

namespace gnnplan {
namespace {

void check_ids(const Schedule& schedule, const Step& step, const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) {
        if (id < 0 || static_cast<std::size_t>(id) >= schedule.tensors.size()) {
            refuse("step " + step.name, "it names tensor " + std::to_string(id) + ", which does not exist");
        }
    }
}

}  // namespace

void check_step(const Schedule& schedule, const Step& step) {
    const Operands operands = operands_of(step.operation);
    check_ids(schedule, step, operands.reads);
    check_ids(schedule, step, operands.writes);
    const StepCheck check(schedule, step);
    std::visit([&](const auto& operation) { operation.check(check); }, step.operation);
}

}  // namespace gnnplan
