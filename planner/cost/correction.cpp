#include "planner/cost/correction.hpp"

#include <algorithm>
#include <cmath>

namespace gnnplan::cost {

const StepCorrection* correction_of(const Machine& machine, ModelPart part) {
    if (!machine.calibration) return nullptr;
    const auto& all = machine.calibration->corrections;
    const auto found = std::ranges::find(all, part, &StepCorrection::part);
    return found == all.end() ? nullptr : &*found;
}

double corrected(const Machine& machine, ModelPart part, double seconds) {
    const StepCorrection* correction = correction_of(machine, part);
    if (correction == nullptr || seconds <= 0) return seconds;
    return seconds * correction->factor * std::pow(seconds / StepCorrection::usual_seconds, correction->slope);
}

double uncorrected(const Machine& machine, ModelPart part, double seconds) {
    const StepCorrection* correction = correction_of(machine, part);
    if (correction == nullptr || seconds <= 0) return seconds;
    const double ratio = seconds / (correction->factor * StepCorrection::usual_seconds);
    return StepCorrection::usual_seconds * std::pow(ratio, 1 / (1 + correction->slope));
}

}  // namespace gnnplan::cost
