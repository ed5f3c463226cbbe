// A measured machine profile: what the planner reads, where it was measured, and the measurements it was fitted to.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan {

// Where and with what a profile was measured; it is stale when any of these but the date has changed.
struct ProfileFingerprint {
    std::string cpu;                               // model name
    int cores = 1;                                 // of this node that the process may use
    int ranks = 1;                                 // that measured, on this node
    int threads = 1;                               // of each rank
    std::string mpi;                               // library and version; "" when it was not used
    std::string kernels;                           // whose, their version and instruction set
    std::string compiler;                          // and its version
    std::string date;                              // of the measurement, UTC, e.g. 2031-05-17T09:30:00Z
    std::optional<std::string> device{};           // that computed, with its driver and libraries; none: the processor
    std::optional<std::string> device_exchange{};  // how several such devices exchanged
};

// Times of one measurement repeated, or quantiles of them, e.g. what = "gemm.forward", at = {n, inner, columns}.
struct Sample {
    std::string what;
    std::vector<std::int64_t> at;
    std::vector<double> seconds;
};

// A step of an epoch that ran on the machine of a profile, beside what its curves say, without corrections.
struct EpochStep {
    ModelPart part = ModelPart::spmm;
    std::string graph;  // whose epoch it was
    int run = 0;        // steps of one epoch have one number
    double predicted = 0;
    double measured = 0;  // StepRecord::advance_seconds
};

struct Profile {
    Machine machine;
    std::optional<ProfileFingerprint> fingerprint{};  // none: the figures were not measured by a calibration
    std::vector<Sample> samples{};
    std::vector<EpochStep> epoch_steps{};
};

}  // namespace gnnplan
