// Makes a machine that the planner reads from samples, whose names runtime/calibrate/measurements.hpp explains.
#pragma once

#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/profile.hpp>

#include <span>
#include <vector>

namespace gnnplan::calibrate {

// `base` with what the samples tell: a part for which there are none is as in `base`. Where there are samples, the
// result has a calibration.
Machine fit_machine(const Machine& base, std::span<const Sample> samples);

// The time of a sample, as the machine predicts it. Throws Error{internal} for samples that are not predicted one by
// one: reading, overlap, steps.
double predicted_seconds(const Machine& machine, const Sample& sample);

// Relative errors of predicting samples that were left out of the fit: each size between the smallest and the largest
// of a curve, each inner and each column count of products, one at a time. Empty when there is nothing in between.
std::vector<double> cross_validate(const Machine& base, std::span<const Sample> samples);

// fit_machine, and the median and the 90th percentile of cross_validate in the calibration.
Machine fit_with_errors(const Machine& base, std::span<const Sample> samples);

}  // namespace gnnplan::calibrate
