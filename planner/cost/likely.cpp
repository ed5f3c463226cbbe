#include "planner/cost/likely.hpp"

#include "planner/cost/correction.hpp"
#include "planner/cost/normal.hpp"
#include "planner/cost/tie.hpp"

#include <algorithm>
#include <cmath>

namespace gnnplan::cost {
namespace {

double spread_of(const Machine& machine, ModelPart part) {
    const StepCorrection* correction = correction_of(machine, part);
    return correction == nullptr ? error_unmeasured : correction->spread;
}

double seconds_of(const Prediction& prediction, ModelPart part) {
    const auto found = std::ranges::find(prediction.by_part, part, &PartSeconds::part);
    return found == prediction.by_part.end() ? 0 : found->seconds;
}

// Returns the standard deviation of the difference between two predictions, over all parts of the model that either
// has.
double deviation_of_difference(const Prediction& a, const Prediction& b, const Machine& machine) {
    double squares = 0;
    const auto add = [&](ModelPart part) {
        squares += std::pow((seconds_of(a, part) - seconds_of(b, part)) * spread_of(machine, part), 2);
    };
    for (const PartSeconds& part : a.by_part) add(part.part);
    for (const PartSeconds& part : b.by_part) {
        if (seconds_of(a, part.part) == 0) add(part.part);
    }
    return std::sqrt(squares);
}

std::vector<PartSeconds> seconds_by_part(const Schedule& schedule, const std::vector<double>& step_seconds) {
    std::vector<PartSeconds> parts;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        if (schedule.steps[i].phase != Phase::epoch || step_seconds[i] <= 0) continue;
        const ModelPart part = part_of(schedule.steps[i].operation);
        auto known = std::ranges::find(parts, part, &PartSeconds::part);
        if (known == parts.end()) known = parts.insert(parts.end(), {part, 0});
        known->seconds += step_seconds[i];
    }
    std::ranges::sort(parts, {}, &PartSeconds::part);
    return parts;
}

double deviation_of_logarithm(const Prediction& prediction, const Machine& machine) {
    if (prediction.by_part.empty()) return model_error(machine) / normal_median;
    return deviation_of_difference(prediction, {}, machine) / prediction.shown_seconds();
}

}  // namespace

bool knows_errors(const Machine& machine) { return machine.calibration && !machine.calibration->corrections.empty(); }

void split_into_parts(const Schedule& schedule, const Machine& machine, Prediction& prediction) {
    if (knows_errors(machine)) prediction.by_part = seconds_by_part(schedule, prediction.step_seconds);
}

Interval likely_seconds(const Prediction& prediction, const Machine& machine) {
    const double seconds = prediction.shown_seconds();
    const double factor = seconds > 0 ? std::exp(normal_80_percent * deviation_of_logarithm(prediction, machine)) : 1;
    return {seconds / factor, seconds * factor};
}

double error_of_difference(const Prediction& a, const Prediction& b, const Machine& machine) {
    if (a.by_part.empty() || b.by_part.empty())
        return model_error(machine) * std::min(a.ranked_seconds(), b.ranked_seconds());
    return normal_80_percent * deviation_of_difference(a, b, machine);
}

bool tie(const Prediction& a, const Prediction& b, const Machine& machine) {
    return std::abs(a.ranked_seconds() - b.ranked_seconds()) <= error_of_difference(a, b, machine);
}

}  // namespace gnnplan::cost
