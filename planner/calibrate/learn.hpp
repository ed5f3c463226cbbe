// Learns from users' own runs.
#pragma once

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/profile.hpp>

#include <string>
#include <vector>

namespace gnnplan::calibrate {

// The steps of a training epoch of the run, beside what `machine`, with which it was predicted, says without
// corrections. What a product does to its own rows counts as part of it. The parts of all steps are known.
std::vector<EpochStep> epoch_steps(const Machine& machine, const RunReport& report, const std::string& graph, int run);

// Adds the steps of a run that was predicted with profile.machine, as it is, to profile.epoch_steps, and its graph to
// those that the profile has learned from; correct() then fits them. A run that is known already is not added again.
// `name` is what the graph is called, where nobody knows its fingerprint, too. Throws Error{data} for runs that teach
// nothing: inferences, reports of earlier versions, runs with fewer processing units than threads, of fewer than five
// epochs, or whose epochs other programs disturbed.
void learn(Profile& profile, const RunReport& report, const std::string& name);

}  // namespace gnnplan::calibrate
