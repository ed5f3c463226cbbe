// Hand-built values that use every field and every kind of step.
#pragma once

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>
#include <gnnplan/ir/profile.hpp>

namespace gnnplan::test {

// Two candidates on four ranks, one layer, 7 vertices, widths 3 and 2; valid.
Plan sample_plan();
// The same with one candidate and three steps, for tests that try every byte.
Plan small_plan();
Machine sample_machine();
// The same, measured: with a calibration, where it was made, and samples.
Profile sample_profile();
RunReport sample_report();

}  // namespace gnnplan::test
