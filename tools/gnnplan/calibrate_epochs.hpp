// The part of a calibration that trains: what a step takes besides its work, and how epochs differ from what the curves
// say of their steps.
#pragma once

#include "runtime/calibrate/setting.hpp"

#include <gnnplan/ir/profile.hpp>

#include <vector>

namespace gnnplan::tools {

// "step", at {steps of an epoch}: seconds of a step of training on a graph so small that it computes next to nothing,
// of the slowest rank; each rank trains for itself.
Sample measure_step(const calibrate::Setting& setting, int threads);

// The steps of epochs of drawn graphs, trained by configurations of different kinds, beside what `machine`, which is
// calibrated without corrections, says of them. Collective; the same on every rank.
struct EpochScope {
    bool quick = false;        // one graph instead of three
    std::int64_t largest = 0;  // bytes of the features, at most: graphs are drawn with fewer vertices for that
};
std::vector<EpochStep> measure_epochs(const calibrate::Setting& setting, const Machine& machine,
                                      const EpochScope& scope);

}  // namespace gnnplan::tools
