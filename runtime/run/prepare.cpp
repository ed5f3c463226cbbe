// Reading guide: prepare() is all of a run before anything is computed. On each process it checks what is asked for and
// what is written, memory and data, and opens them; run.cpp goes on from there.
#include "runtime/data/judge.hpp"
#include "runtime/deploy/match.hpp"
#include "runtime/deploy/model_values.hpp"
#include "runtime/graph/fingerprint.hpp"
#include "runtime/run/agreement.hpp"
#include "runtime/run/artifacts.hpp"
#include "runtime/run/memory.hpp"
#include "runtime/run/run.hpp"
#include "runtime/train/finished.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gnnplan::run {

void Run::prepare(Ranks& ranks) {
    comm::Communicator& processes = ranks.processes;
    comm::agree(processes, [&] {
        if (speaks_) check_artifacts(settings_, plan_, outputs_.layers(), folder_lock_, logits_lock_, observer_);
    });
    require_same(processes, facts_of_run(settings_, plan_));
    comm::agree(processes, [&] {
        check_memory(ranks);
        if (speaks_) start_.read(settings_, observer_);
    });
    share_start(processes);
    processes.heartbeats()[static_cast<std::size_t>(processes.rank())]->enter(comm::Heartbeat::reading);
    comm::agree(processes, [&] {
        take_start();
        open_data();
    });
    if (processes.size() > 1) require_same(processes, facts_of_data(*dataset_));
    check_features(processes);
    comm::agree(processes, [&] { check_validation(), compare_start(); });
    open_outputs(processes);
    observer_.checked(plan_, *dataset_, options_);
}

int Run::first_usable() const { return deploy::usable_candidates(plan_, options_.features_dropout()).front(); }

// For ranks as threads the needs are known in full once the data is open.
void Run::check_memory(const Ranks& ranks) const {
    if (settings_.dry_run || !backend_.host_memory) return;
    if (ranks.processes.size() == 1) {
        check_memory_of_threads(plan_, first_usable(), dataset_ ? &*dataset_ : nullptr);
    } else {
        run::check_memory(plan_, first_usable(), ranks.on_this_node);
    }
}

// Errors in what data has beside its graph may come of a plan for another graph, which then is what is to be said.
template <class Read>
void Run::read_data(const Read& read) const {
    try {
        read();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::data)
            deploy::match_vertices(plan_, settings_.data, dataset_options(settings_, plan_));
        throw;
    }
}

void Run::open_data() {
    first_usable();  // cheaper than reading the data to find out
    const double start = clock_.now();
    kernels::set_threads(options_.threads);  // ranks as threads of this process set their own
    read_data([&] { dataset_.emplace(data::open_dataset(settings_.data, dataset_options(settings_, plan_))); });
    if (!dataset_->in_shares()) {
        note(settings_.data + ": " + dataset_->report().describe());
        for (const std::string& remark : dataset_->report().remarks) note("note: " + remark);
    }
    deploy::match_data(plan_, *dataset_);
    observer_.data_matches(plan_, options_);
    options_.load_seconds = clock_.now() - start;
}

void Run::share_start(comm::Communicator& processes) {
    if (processes.size() > 1) start_.share(processes);
}

void Run::take_start() {
    start_.take(plan_);
    options_.weights = start_.weights();
    const io::Checkpoint* checkpoint = start_.checkpoint();
    if (checkpoint == nullptr) return;
    if (checkpoint->state.epoch > options_.epochs) {
        throw Error(ErrorCode::usage,
                    fmt::format("the checkpoint is of epoch {}, and {} are asked for", checkpoint->state.epoch,
                                options_.epochs),
                    start_.path(), "ask for more with `epochs`, or name an earlier checkpoint");
    }
    check_runs(checkpoint->state);
    options_.start = &checkpoint->state;
}

// Runs of other seeds have to be over, as these options have it, and not more than are asked for.
void Run::check_runs(const TrainingState& state) const {
    const auto refuse = [&](const std::string& why, const std::string& hint) {
        throw Error(ErrorCode::usage, why, start_.path(), hint);
    };
    const std::int64_t done = std::ssize(state.runs_before);
    if (done >= options_.runs) {
        refuse(fmt::format("the checkpoint is of run {}, and {} {} asked for", done + 1, options_.runs,
                           options_.runs == 1 ? "is" : "are"),
               "ask for more with `runs`, or name an earlier checkpoint");
    }
    for (const std::vector<EpochRecord>& run : state.runs_before) {
        if (options_.patience || std::ssize(run) == options_.epochs) continue;
        refuse(fmt::format("the runs before the checkpoint's took {} epochs, and {} are asked for", run.size(),
                           options_.epochs),
               "say `epochs` as before, or begin anew");
    }
}

void Run::check_validation() const {
    if (!options_.keep_best && !options_.patience) return;
    const char* const asked = options_.keep_best ? "`keep-best`" : "`patience`";
    if (dataset_->labelled(data::valid) == 0) {
        const std::int64_t unlabelled = dataset_->subset_size(data::valid);
        throw Error(ErrorCode::mismatch,
                    unlabelled == 0
                        ? "the split has no validation vertices to judge by"
                        : fmt::format("none of the {} validation vertices has a label to judge by", unlabelled),
                    asked);
    }
    if (options_.best_by == BestBy::rocauc && !data::can_rank(*dataset_, data::valid))
        throw Error(ErrorCode::mismatch,
                    "no label is there of some validation vertices and missing of others, so they have no ROC-AUC",
                    asked, "judge by another score, e.g. `best-by loss`");
}

void Run::compare_start() const {
    const std::vector<std::string> differences = start_.compare(facts_of_training_and_data());
    if (!differences.empty() && options_.start != nullptr && options_.runs > 1)
        throw Error(ErrorCode::mismatch, differences.front(), start_.path(),
                    "runs of several seeds are trained alike: use the options as before");
    for (const std::string& text : differences) note("note: " + text);
    if (options_.start != nullptr && !train::is_finished(options_))
        note(fmt::format("{}: going on after epoch {}{}", start_.path(), options_.start->epoch,
                         options_.runs > 1 ? fmt::format(" of run {}", options_.start->runs_before.size() + 1) : ""));
}

// Checks that the features are the plan's and the same on each process. Where they are larger than 1 GiB, each
// process looks at its share only.
void Run::check_features(comm::Communicator& processes) {
    if (dataset_->report().features_generated) return;
    if (dataset_->features_in_shares()) {  // ranks compare them when they have read them
        features_ = plan_.fingerprints.features;
        return;
    }
    constexpr std::int64_t looked_at_by_all = std::int64_t{1} << 30;  // bytes
    const Range all{0, dataset_->vertices()};
    const bool whole =
        !dataset_->in_shares() && all.size() <= looked_at_by_all / 4 / std::max<std::int64_t>(1, dataset_->features());
    std::uint64_t sum = 0;
    comm::agree(processes, [&] {
        read_data([&] {
            sum = dataset_->feature_hash(whole ? all : balanced_block(all, processes.rank(), processes.size()));
        });
    });
    if (whole) {
        require_same(processes, {{"the features", data::feature_fingerprint(sum)}});
    } else {
        const std::vector<std::string> shares = processes.control_all_gather(std::to_string(sum));
        sum = 0;
        for (const std::string& share : shares) sum += std::stoull(share);
    }
    features_ = data::feature_fingerprint(sum);
    comm::agree(processes, [&] { deploy::match_features(plan_, *dataset_, sum); });
}

void Run::open_outputs(comm::Communicator& processes) {
    if (settings_.dry_run) return;
    outputs_.open(processes, [this] {
        return facts_of_layers(settings_, options_.weights, plan_, dataset_->fingerprint(), features_);
    });
    if (outputs_.layers_done() > 0)
        note(fmt::format("{}: going on after layer {}", outputs_.layers()->path, outputs_.layers_done()));
}

}  // namespace gnnplan::run
