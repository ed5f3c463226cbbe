#include "planner/cost/tie.hpp"

#include <algorithm>

namespace gnnplan::cost {

double model_error(const Machine& machine) {
    return machine.calibration ? machine.calibration->error_median : error_unmeasured;
}

bool tie(double seconds, double other, const Machine& machine) {
    const auto [shorter, longer] = std::minmax(seconds, other);
    return longer <= (1 + model_error(machine)) * shorter;
}

}  // namespace gnnplan::cost
