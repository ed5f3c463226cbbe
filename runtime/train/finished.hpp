// Runs that are resumed after their end: nothing is left to train.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/train/options.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

namespace gnnplan::train {

// Whether options.start is of the last of the runs and has all epochs, or its validation got no better for as long as
// the options allow.
bool is_finished(const TrainOptions& options);

// The report of such a run, from its checkpoint: the epochs and how they ended. It has no steps, and nothing was
// measured. It names the first of the plan's candidates that the options allow. Tool, command line, backend and
// communicator are the caller's to fill in.
RunReport report_of_finished(const Plan& plan, const TrainOptions& options, const data::Dataset& dataset);

}  // namespace gnnplan::train
