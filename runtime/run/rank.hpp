// The part of one rank in a run, once the data is open.
#pragma once

#include "kernels/backend.hpp"
#include "planner/io/trace.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/run/observer.hpp"
#include "runtime/run/settings.hpp"
#include "runtime/run/time_limit.hpp"
#include "runtime/run/training_files.hpp"
#include "runtime/run/vertex_outputs.hpp"
#include "runtime/run/watchdog.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

#include <optional>

namespace gnnplan::run {

// The state that the ranks of a process share.
struct Shared {
    const Settings& settings;
    const Plan& plan;
    const train::TrainOptions& options;  // of all ranks, without their devices
    data::Dataset& dataset;
    const kernels::Backend& backend;
    VertexOutputs& outputs;
    TrainingFiles* files;  // where rank 0 is one of them, else null
    TimeLimit& limit;
    Observer& observer;

    bool infers() const { return plan.problem.task == Task::infer; }
};

// How a rank was started.
struct Launch {
    bool threads = false;  // the ranks are threads of this process
    int local_rank = 0;    // among those of this machine
    // Watches the rank, or is null; ranks as threads get one of their own.
    Watchdog* watchdog = nullptr;
};

struct Computed {
    RunReport report;
    std::optional<io::Trace> trace;  // on rank 0, where settings.trace is there and the run went to its end
};

// Trains, or infers. Collective.
Computed compute(const Shared& shared, comm::Communicator& comm, const Launch& launch);

}  // namespace gnnplan::run
