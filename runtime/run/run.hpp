// A run of a plan, from the data to the report: docs/checkpoints.md, docs/inference.md.
#pragma once

#include "kernels/backend.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/run/folder_lock.hpp"
#include "runtime/run/observer.hpp"
#include "runtime/run/rank.hpp"
#include "runtime/run/settings.hpp"
#include "runtime/run/start.hpp"
#include "runtime/run/time_limit.hpp"
#include "runtime/run/training_files.hpp"
#include "runtime/run/vertex_outputs.hpp"
#include "runtime/run/watchdog.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::run {

// Where the ranks of a run are: in processes of their own, or as threads of this one, if it is alone and the plan is
// for several.
struct Ranks {
    comm::Communicator& processes;
    std::string communicator;              // for the report: "mpi", "threads"
    int on_this_node = 1;                  // processes
    int before_this = 0;                   // of these, by rank
    std::unique_ptr<Watchdog> watchdog{};  // of this process; or null
};

// The results of a run, in the process with rank 0.
struct Outcome {
    RunReport report;
    std::vector<Error> failures;               // files that could not be written
    std::optional<NotFiniteError> not_finite;  // why nothing was written of the vertices
    // The checkpoint, or the folder of layers, that an interrupted run goes on from.
    std::optional<std::string> resume_from;
};

class Run {
public:
    // Opens the backend, unless nothing is to be computed. Settings and observer outlive the object. Throws
    // Error{usage} where plan and settings do not fit, Error{unavailable} without the backend.
    Run(const Settings& settings, Plan plan, Observer& observer);

    // The plan as it runs: how the graph is loaded is decided, predictions are for the options and the backend.
    const Plan& plan() const { return plan_; }

    // Collective over the processes, once. Checks all that can be checked before anything is computed: that ranks agree
    // on what decides a run, that what is to be written can be, that the memory suffices, and that data and checkpoint
    // are the plan's. Then trains or infers, and writes what was asked for. Returns nothing where rank 0 is elsewhere,
    // or where nothing was to be computed. Throws on every process, as comm::AgreedError.
    std::optional<Outcome> go(Ranks& ranks);

private:
    template <class Read>
    void read_data(const Read& read) const;
    void note(const std::string& line) const {
        if (speaks_) observer_.note(line);
    }
    bool infers() const { return plan_.problem.task == Task::infer; }
    bool computes() const;
    bool threads(const Ranks& ranks) const { return plan_.problem.ranks > ranks.processes.size(); }
    int first_usable() const;
    void check_memory(const Ranks& ranks) const;
    void prepare(Ranks& ranks);
    void share_start(comm::Communicator& processes);
    void take_start();
    void check_runs(const TrainingState& state) const;
    void check_validation() const;
    void compare_start() const;
    void open_data();
    void check_features(comm::Communicator& processes);
    void open_outputs(comm::Communicator& processes);
    std::vector<Fact> facts_of_training_and_data() const;
    Checkpoints make_checkpoints();
    void compute(Ranks& ranks);
    void take_finished();
    void note_unwritten(const RunReport& report) const;
    Outcome finish(const std::string& communicator);

    const Settings& settings_;
    Observer& observer_;
    measure::SteadyClock clock_;
    Plan plan_;
    train::TrainOptions options_;
    TimeLimit limit_;
    VertexOutputs outputs_;
    kernels::Backend backend_;
    std::optional<data::Dataset> dataset_;
    std::string features_;  // their fingerprint, once they were checked
    Start start_;
    bool speaks_ = false;  // the process has rank 0, which alone has what follows
    FolderLock folder_lock_, logits_lock_;
    std::optional<TrainingFiles> files_;
    std::optional<Computed> computed_;
};

}  // namespace gnnplan::run
