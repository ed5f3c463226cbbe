// A plan on one rank: the loaded graph, the model's state, and the executor of the candidate that runs.
//
// While candidates are still tried the graph stays loaded for the next one, and all features, where there is room; the
// candidate that runs to the end is built last, always anew, so that its memory is what was predicted for it. The
// model's state outlives executors, and so do sparse blocks that the next one would cut alike.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/deploy/batch_run.hpp"
#include "runtime/deploy/fitting.hpp"
#include "runtime/deploy/footprint.hpp"
#include "runtime/deploy/options.hpp"
#include "runtime/deploy/report.hpp"
#include "runtime/exec/model_state.hpp"
#include "runtime/load/share.hpp"

#include <gnnplan/ir/plan.hpp>
#include <gnnplan/ir/training_state.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gnnplan::deploy {

// Whether hooks.step and hooks.pass are told of a pass.
enum class Watched : bool { no, yes };

// How training and inference use a deployment.
struct Use {
    exec::PassSettings passes;  // of all passes, but for their epoch and whether they train
    // Parameters of the model to begin with, checked with check_values(); null: Glorot values from the seed of
    // `passes`.
    const std::vector<NamedTensor>* values = nullptr;
    bool moments = false;                // whether `values` are with those of the optimiser
    Written written = Written::nothing;  // the numbers of whose vertices are kept
};

class Deployment {
public:
    // Everything outlives the object. `hosts` exchanges what is in the hosts' memory, `comm` what is in the devices'.
    Deployment(comm::Communicator& hosts, comm::Communicator& comm, kernels::Device& device, const Plan& plan,
               const data::Dataset& dataset, const RunOptions& options, const RunHooks& hooks, measure::Clock& clock,
               const Use& use);

    // Not collective, and before all else: finds out whether data and ranks are the plan's, notes what differs and does
    // no harm, and keeps the scales of the graph, which it counts from here on.
    void take_graph();

    // The rest is collective.

    // Draws the pool that batches are of, if they are; the next thing after take_graph().
    void draw_pool();
    // Answers about the graph, not collective; nothing where it is loaded in shares.
    std::optional<exec::GraphCounts> counts() const;

    // Keeps all features in memory for the candidates to come, which are so many bytes.
    void cache_features(std::int64_t bytes);
    // Makes candidate `index` ready to run, in place of the one before; `last`: no other follows. Passes begin at
    // `first_step`, and what only earlier steps read is not loaded.
    void build(int index, bool last, std::size_t first_step = 0);
    // No other candidate follows the one that is built.
    void settle();
    // The model's state is that of the beginning of a run of this seed.
    void begin_anew(std::uint64_t seed);
    // Not collective: what the learning rate is multiplied by from here on.
    void set_rate(double factor) { use_.passes.rate = static_cast<float>(factor); }
    std::vector<measure::StepSample> run(Phase phase, std::int64_t epoch, bool training,
                                         Watched watched = Watched::yes);

    exec::Executor& executor() { return *executor_; }
    exec::ModelState& state() const { return *state_; }
    Measurements& measured() { return measured_; }
    // Says which vertices the rows of the outputs belong to, where outputs are written.
    const OutputRows& output_rows() const { return output_rows_; }
    // The fingerprint of the graph that was loaded.
    const std::string& fingerprint() const { return fingerprint_.empty() ? dataset_.fingerprint() : fingerprint_; }
    double share_seconds() const { return share_seconds_; }  // of loading in shares
    double cut_seconds() const { return cut_seconds_; }      // of the executor built last, for its sparse blocks

    // Fills in everything that was predicted and measured of the candidate that ran; report.chosen is set.
    void report(RunReport& report);

private:
    void load_share(const Candidate& candidate);
    std::shared_ptr<const exec::NumberedCounts> count(const Schedule& schedule, const LoadState& loaded);
    void make_executor(const Schedule& schedule, const LoadState& loaded, std::optional<exec::SparseBlocks> blocks);
    void load_model(const Candidate& candidate);
    void load_features(const Candidate& candidate);
    void release_graph();
    void release_features();
    void keep_for_batches();
    void take_batches(std::int64_t epoch);
    bool on_batches() const { return plan_.problem.batches.has_value(); }
    void keep_tuning_peak();
    exec::PassSettings settings(std::int64_t epoch, bool training) const;
    exec::Executor::Observer observer(std::int64_t epoch) const;

    comm::Communicator& hosts_;
    comm::Communicator& comm_;
    kernels::Device& device_;
    const Plan& plan_;
    const data::Dataset& dataset_;
    const RunOptions& options_;
    const RunHooks& hooks_;
    measure::Clock& clock_;
    Use use_;

    exec::MemoryTracker tracker_;
    exec::Charge messages_;  // between devices, in their hosts' memory
    data::DegreeScales scales_;
    std::shared_ptr<const sample::Pool> pool_;  // null: epochs are not of batches
    std::optional<load::GraphShare> share_;     // of a graph that is loaded in shares, until blocks are cut
    std::string fingerprint_;                   // of that share's graph
    exec::Charge loaded_;                       // the graph and its scales, while they live
    GroupScales of_groups_;                     // where vertices have clones
    std::int64_t cached_feature_bytes_ = 0;     // 0: not worth it, or no room
    exec::Charge cached_features_;
    std::optional<exec::Charge> batch_features_;
    std::unique_ptr<exec::ModelState> state_;
    std::optional<BatchRun> batches_;  // where updates are of batches: its schedule is the executor's
    std::unique_ptr<exec::Executor> executor_;
    OutputRows output_rows_;
    Prediction predicted_;
    std::optional<TuningPeak> tuning_peak_;
    double cut_seconds_ = 0;
    double share_seconds_ = 0;
    std::size_t first_step_ = 0;
    Measurements measured_;
};

}  // namespace gnnplan::deploy
