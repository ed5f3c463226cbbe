// The part of a calibration that trains: what a step takes besides its work, and how epochs differ from what the curves
// say of their steps.
#pragma once

#include "kernels/device.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/measure/clock.hpp"

#include <gnnplan/ir/profile.hpp>

#include <cstdint>

#include <vector>

namespace gnnplan::tools {

// The ranks of a calibration as a run has them.
struct TrainingRanks {
    comm::Communicator& hosts;
    measure::Clock& clock;
    int threads = 1;                        // of each
    kernels::OpenDevice device;             // called by the rank's thread, which has one device at a time
    comm::OpenCommunicator communicator{};  // between such devices; empty where their memory is the hosts'
};

// "step", at {steps of an epoch}: seconds of a step of training on a graph so small that it computes next to nothing,
// of the slowest rank; each rank trains for itself. `machine` is of such ranks, whatever its figures.
Sample measure_step(const TrainingRanks& ranks, const Machine& machine);

// The steps of epochs of drawn graphs, trained by configurations of different kinds, beside what `machine`, which is
// calibrated without corrections, says of them. Collective; the same on every rank.
struct EpochScope {
    bool quick = false;        // one graph instead of three
    std::int64_t largest = 0;  // bytes of the features, at most: graphs are drawn with fewer vertices for that
};
std::vector<EpochStep> measure_epochs(const TrainingRanks& ranks, const Machine& machine, const EpochScope& scope);

}  // namespace gnnplan::tools
