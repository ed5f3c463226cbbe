// The seconds between which a predicted time lies in four of five cases, and whether two predictions differ by more
// than the model errs.
#pragma once

#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/plan.hpp>

namespace gnnplan::cost {

struct Interval {
    double low = 0;
    double high = 0;
};

// Whether epochs have shown by how much each part of the model errs on this machine.
bool knows_errors(const Machine& machine);

// Fills Prediction::by_part from the seconds of all steps, where the errors of the parts are known.
void split_into_parts(const Schedule& schedule, const Machine& machine, Prediction& prediction);

// The 80 % interval of shown_seconds() on a calibrated machine. Errors of steps of one part of the model are taken to
// be equal, those of different parts independent:
//   (log T's deviation)^2 = sum over parts of (t_part spread_part)^2 / T^2
// Where no epoch was measured, the calibration's median error, as of a normal distribution, is that of all parts.
Interval likely_seconds(const Prediction& prediction, const Machine& machine);

// By how many seconds the difference of two predicted epochs errs at most, in four of five cases. Where epochs have
// shown the error of each part, it is
//   z sqrt(sum over parts of ((t_part,a - t_part,b) spread_part)^2), z = 1.28
// in which the steps that both have in common cancel; elsewhere model_error of the shorter.
double error_of_difference(const Prediction& a, const Prediction& b, const Machine& machine);

// Whether two predictions differ by no more than that.
bool tie(const Prediction& a, const Prediction& b, const Machine& machine);

}  // namespace gnnplan::cost
