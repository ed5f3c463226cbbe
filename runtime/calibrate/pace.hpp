// How a calibration keeps to a limit of time.
#pragma once

#include "runtime/calibrate/setting.hpp"

#include <cstddef>
#include <vector>

namespace gnnplan::calibrate {

// The effort of the next of `points` when `seconds` are left for all of them: half of its share goes into what is
// timed, the other half into making operands.
Effort hurried(const Effort& effort, double seconds, std::size_t points);

// The points in the order they are measured under a limit: those that no fit can do without first, then the others,
// spread so that what is left out in the end is missing evenly.
std::vector<std::size_t> order_of_need(const std::vector<bool>& needed);

// About how long it takes until all are measured; `limit` 0: there is none.
double seconds_left(double elapsed, std::size_t done, std::size_t total, double limit);

}  // namespace gnnplan::calibrate
