// Predictions that the model cannot tell apart.
#pragma once

#include <gnnplan/ir/machine.hpp>

namespace gnnplan::cost {

// The mean relative error of one sparse rate for all graphs, as measured: the error of a machine that was not
// calibrated.
inline constexpr double error_unmeasured = 0.25;

// Median relative error of predicted epochs: the calibration's own, else error_unmeasured, which tools print as not
// measured here.
double model_error(const Machine& machine);

// Whether two predicted times, of which nothing else is known, differ by no more than that of the shorter one.
bool tie(double seconds, double other, const Machine& machine);

}  // namespace gnnplan::cost
