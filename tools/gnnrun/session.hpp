// One process's part in a run: the plan and the data, shared by the ranks that are its threads.
#pragma once

#include "kernels/backend.hpp"
#include "planner/io/trace.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/infer/options.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/train/finished.hpp"
#include "tools/common/memory_limit.hpp"
#include "tools/gnnrun/agreement.hpp"
#include "tools/gnnrun/artifacts.hpp"
#include "tools/gnnrun/checkpoints.hpp"
#include "tools/gnnrun/flags.hpp"
#include "tools/gnnrun/start.hpp"
#include "tools/gnnrun/vertex_matrix.hpp"
#include "tools/gnnrun/watchdog.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/plan.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

class Session {
public:
    // `speaks`: this process holds rank 0, which is the one that prints. `threads`: the number of threads of a rank
    // where --threads is not given. Throws Error{unavailable} without the backend, which a dry run does not open.
    Session(const RunFlags& flags, Plan plan, bool speaks, int threads);

    // What all ranks have to have in common, see agreement.hpp: before and after the data is read.
    std::vector<Fact> facts_of_run() const { return tools::facts_of_run(flags_, options_, plan_); }
    std::vector<Fact> facts_of_data() const { return tools::facts_of_data(*dataset_); }

    // Finds out before any work what cannot be written, when this process speaks; see artifacts.hpp.
    void check_outputs() {
        if (speaks_) check_artifacts(flags_, plan_, layers_, folder_lock_, embeddings_lock_);
    }

    // Both throw Error{infeasible} when the plan is known to need more memory than the machine has: for the processes
    // on it, or for ranks as threads, whose needs are known in full once the data is `loaded`. See memory.hpp.
    void check_memory(int ranks_here) const;
    void check_memory_of_threads(bool loaded) const;
    // Makes allocations fail, with Error{infeasible}, before the system kills this process, which has `ranks` ranks.
    void limit_memory(int ranks) const {
        if (backend_.host_memory) tools::limit_memory(ranks * options_.threads);
    }

    // Reads what training starts from, checks it, and compares it with the data, which is open by then; see start.hpp.
    void read_start() { start_.read(flags_); }
    void share_start(comm::Communicator& comm) { start_.share(comm); }
    void take_start();
    void compare_start() const;

    // Reads the data and checks that it is the plan's. Not collective.
    void open_data();
    // Collective over the processes: checks that the features are the plan's and the same on each. Of more than 1 GiB
    // each process looks at its share only.
    void check_features(comm::Communicator& processes);
    // Collective over the processes: finds out which layers an inference goes on from, and what is written where.
    void open_outputs(comm::Communicator& processes);
    // Prints what a run would do, when this process speaks.
    void show_dry_run() const;

    // Whether there is anything to compute; the same on every process. There is nothing where training would go on from
    // the end of a run, unless embeddings are asked for.
    bool computes() const { return !is_finished() || flags_.save_embeddings.has_value(); }
    // Where nothing is left to train, takes report, metrics and weights from the checkpoint, when this process speaks.
    void take_finished();

    // Trains, or infers, on one rank, which has the number `local_rank` on this machine. Collective over `comm`; with
    // `shared`, its ranks are threads that share this object. `watchdog` watches the rank and may be null; ranks as
    // threads get one of their own. Rank 0 keeps the report, and the trace if one is asked for.
    void run(comm::Communicator& comm, bool shared, int local_rank, Watchdog* watchdog);

    // Writes and prints the results, when this process speaks; else does nothing. Returns the exit code: 74 when a file
    // could not be written, else 75 when the run was interrupted, 1 when it diverged. `processes` were started
    // together. Throws Error{internal} when the bytes counted are not those predicted.
    int finish(const std::string& communicator, int processes);

private:
    template <class Read>
    void read_data(const Read& read) const;
    bool infers() const { return plan_.problem.task == Task::infer; }
    bool is_finished() const { return train::is_finished(options_); }
    Checkpoints make_checkpoints();
    train::TrainOptions options_of_rank(int local_rank) const;
    // Remember, for the report, a file of vertices that was written, or was not because values are not finite.
    void remember(comm::Communicator& comm, std::string path, std::int64_t bytes);
    void remember(comm::Communicator& comm, const NotFiniteError& error, int layer);
    void write_embeddings_with(train::TrainHooks& hooks, comm::Communicator& comm, bool one_process);
    void write_layers_with(infer::InferHooks& hooks, comm::Communicator& comm, bool one_process);
    std::vector<Fact> facts_of_training_and_data() const;
    void keep_weights(const TrainingState& state);
    std::optional<std::string> reason_to_stop();
    std::string hint_of_divergence() const;
    void say_how_to_go_on(int processes) const;

    const RunFlags& flags_;
    measure::SteadyClock clock_;
    double began_ = clock_.now();
    Plan plan_;
    bool speaks_;
    train::TrainOptions options_;
    std::optional<LayerFolder> layers_;  // of --save-layers
    int layers_done_ = 0;                // from which an inference goes on
    kernels::Backend backend_;
    std::optional<data::Dataset> dataset_;
    std::optional<RunReport> report_;
    std::optional<io::Trace> trace_;
    std::string features_;  // their fingerprint, once they were checked
    Start start_;
    double trained_at_ = 0;  // the epoch under way, but for its evaluation
    // Of rank 0:
    double longest_epoch_ = 0;  // seconds, with its evaluation
    std::unique_ptr<Metrics> metrics_;
    FolderLock folder_lock_, embeddings_lock_;
    std::optional<Checkpoints> checkpoints_;
    std::vector<NamedTensor> weights_;         // of --save-weights
    std::optional<Error> embeddings_failure_;  // of --save-embeddings
    std::optional<NotFiniteError> not_finite_;
    bool embeddings_in_folder_ = false;
    std::vector<WrittenFile> written_;
};

}  // namespace gnnplan::tools
