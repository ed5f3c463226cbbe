// Options that training and inference share, and hooks that they call.
#pragma once

#include "kernels/device.hpp"
#include "runtime/deploy/outputs.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/measure/timeline.hpp"

#include <gnnplan/ir/training_state.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::deploy {

struct RunOptions {
    std::uint64_t seed = 1;  // of weights, and of dropout
    // The weights that a run begins with, checked with check_values(); null: Glorot weights.
    const std::vector<NamedTensor>* weights = nullptr;
    int threads = 1;
    // Called by a thread that works beside the rank's: takes it to units that the rank's threads leave free. Empty:
    // there are none.
    std::function<void()> work_beside;
    kernels::OpenDevice device = [] { return kernels::host_device(kernels::cpu_table()); };
    std::string product_kernel;           // that is wanted, see Device::choose(); empty: the fastest
    comm::OpenCommunicator communicator;  // between such devices; empty where their memory is the hosts'
    double load_seconds = 0;              // what reading the data took, for the report
};

// Hooks by which the owner of the data that a run was lent keeps or frees it. Called on every rank; any may be empty.
struct DataHooks {
    std::function<void()> cache_features;    // several candidates will read features, and there is room for all
    std::function<void()> release_graph;     // no rank reads the graph any more
    std::function<void()> release_features;  // no rank reads features any more
};

// Called on every rank, in the same order. Any may be empty.
struct RunHooks {
    std::function<void(int candidate)> candidate;  // it is built next, and runs from then on
    // A step of a training epoch, or of an inference, is done.
    std::function<void(std::int64_t epoch, const Step&, const exec::Executor&)> step;
    // When the steps of a pass ran, after it: of a training epoch, of its evaluation, or of an inference.
    std::function<void(std::span<const measure::TimedStep>)> pass;
    std::function<void(const std::string&)> note;  // a sentence for the user
    DataHooks data;
    // The executor holds what the last layer makes of every vertex with the weights that the run leaves behind; not
    // called after a run that diverged or was interrupted. Collective.
    std::function<void(const exec::Executor&, const OutputRows&)> outputs;
    // Called after each epoch, and after each step of an inference: returns why the run should be interrupted now, as
    // after a signal; unset: the run goes on. All ranks end as soon as one of them returns a reason.
    std::function<std::optional<std::string>()> stop;
};

}  // namespace gnnplan::deploy
