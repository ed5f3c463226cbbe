// The cost of a message as a function of its size: as many straight lines as the measurements can tell apart.
#pragma once

#include "planner/calibrate/line.hpp"

#include <gnnplan/ir/machine.hpp>

#include <cstddef>
#include <vector>

namespace gnnplan::calibrate {

// The best fit with exactly `count` segments, each over at least two sizes (fewer segments when there are fewer sizes):
// least sum of squared relative errors, over all places where lines may meet (dynamic programming). A segment begins
// half-way, in ratio, between the last size of one line and the first of the next. latency_seconds is the cost of the
// smallest message, bytes_per_second that of the last line. Needs two different sizes.
Link fit_segments(std::vector<Timing> timings, std::size_t count);

// As many segments as keep lowering the error of predicting sizes that were left out, one at a time: the fewest whose
// mean relative error is within a tenth of the least.
Link fit_link(const std::vector<Timing>& timings);

}  // namespace gnnplan::calibrate
