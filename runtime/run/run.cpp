// Reading guide: go() is a run from beginning to end; prepare.cpp checks all before anything is computed, and rank.cpp
// has the part of a rank in the computation.
#include "runtime/run/run.hpp"

#include "planner/io/facts.hpp"
#include "runtime/comm/threads.hpp"
#include "runtime/deploy/match.hpp"
#include "runtime/deploy/model_values.hpp"
#include "runtime/run/agreement.hpp"
#include "runtime/run/artifacts.hpp"
#include "runtime/train/finished.hpp"

#include <fmt/format.h>

#include <utility>

namespace gnnplan::run {

Run::Run(const Settings& settings, Plan plan, Observer& observer)
    : settings_(settings),
      observer_(observer),
      plan_(with_loading(settings, std::move(plan))),
      options_(settings.training),
      limit_(settings.time_limit_seconds, settings.seconds_before, clock_),
      outputs_(settings, plan_),
      backend_(settings.dry_run ? kernels::Backend() : kernels::open_backend(settings.backend)) {
    deploy::leave_out_idle_dropout(plan_, options_.features_dropout());
    deploy::take_row_starts(plan_, kernels::tensor_memory(settings.backend));
}

std::optional<Outcome> Run::go(Ranks& ranks) {
    comm::Communicator& processes = ranks.processes;
    speaks_ = processes.rank() == 0;
    if (const std::string other = other_results(plan_.candidates.front().configuration); !other.empty()) note(other);
    prepare(ranks);
    if (settings_.dry_run) return std::nullopt;
    if (speaks_) files_.emplace(settings_, make_checkpoints(), options_.start);
    if (computes()) compute(ranks);
    std::optional<Outcome> outcome;
    processes.heartbeats()[static_cast<std::size_t>(processes.rank())]->enter(comm::Heartbeat::finishing);
    comm::agree(processes, [&] {
        if (!speaks_) return;
        if (train::is_finished(options_)) take_finished();
        outcome = finish(ranks.communicator);
    });
    return outcome;
}

// There is nothing to compute where training would go on from the end of a run, unless logits are asked for.
bool Run::computes() const { return !train::is_finished(options_) || settings_.save_logits.has_value(); }

std::vector<Fact> Run::facts_of_training_and_data() const {
    std::vector<Fact> facts = facts_of_model(settings_, plan_.problem);
    for (Fact& fact : facts_of_training(settings_)) facts.push_back(std::move(fact));
    for (Fact& fact : facts_of_data(*dataset_)) facts.push_back(std::move(fact));
    if (!features_.empty()) facts.push_back({"the features", features_});
    return facts;
}

Checkpoints Run::make_checkpoints() {
    io::Checkpoint form;
    form.tool_version = settings_.tool_version;
    form.command_line = settings_.command_line;
    for (Fact& fact : facts_of_training_and_data())
        form.facts.emplace_back(std::move(fact.name), std::move(fact.value));
    const std::string folder = checkpoint_folder(settings_);
    return {{folder, saves_regularly(settings_), settings_.checkpoint_every_epochs},
            std::move(form),
            start_.earlier_in(folder),
            folder_lock_,
            clock_,
            observer_};
}

void Run::compute(Ranks& ranks) {
    const Shared shared{settings_, plan_,    options_, *dataset_, backend_, outputs_, files_ ? &*files_ : nullptr,
                        limit_,    observer_};
    if (!threads(ranks)) {
        Computed mine = run::compute(shared, ranks.processes, {false, ranks.before_this, ranks.watchdog.get()});
        if (speaks_) computed_ = std::move(mine);
        return;
    }
    check_memory(ranks);
    ranks.watchdog.reset();  // this thread waits from here on, and the ranks get one of their own
    comm::run_ranks(plan_.problem.ranks, [&](comm::Communicator& comm) {
        Computed mine = run::compute(shared, comm, {true, comm.rank(), nullptr});
        if (comm.rank() == 0) computed_ = std::move(mine);
    });
}

// Nothing is left to train: report and weights are those of the checkpoint.
void Run::take_finished() {
    const TrainingState& end = *options_.start;
    computed_ = {train::report_of_finished(plan_, options_, *dataset_), std::nullopt};
    const RunReport& report = computed_->report;
    files_->keep_weights(end);
    const bool out_of_patience = report.ending == Ending::patience;
    if (options_.runs > 1) {
        note(fmt::format("{}: all {} runs are done: nothing is left to train (for more: `runs`)", start_.path(),
                         options_.runs));
    } else {
        note(fmt::format("{}: {}: nothing is left to train (for more: {})", start_.path(),
                         out_of_patience ? *report.ended : fmt::format("all {} epochs are done", end.epoch),
                         out_of_patience ? "a larger `patience`" : "`epochs`"));
    }
    if (settings_.trace) note("note: nothing was trained, so there is no trace");
    if (settings_.save_weights && options_.keep_best && !deploy::holds_best(end, options_.best_by))
        note(fmt::format("note: the checkpoint is of a run {}: the last weights are written",
                         deploy::holds_best(end.tensors) ? "with another `best-by`" : "without `keep-best`"));
}

// Logits are made when a run has ended well, and weights that are not finite are not written.
void Run::note_unwritten(const RunReport& report) const {
    const bool diverged = report.ending == Ending::diverged;
    if (!diverged && report.ending != Ending::interrupted) return;
    const auto note_file = [&](const std::optional<std::string>& path) {
        if (path) note(fmt::format("not written: {} (the run {})", *path, diverged ? "diverged" : "was interrupted"));
    };
    note_file(settings_.save_logits);
    if (diverged) note_file(settings_.save_weights);
}

Outcome Run::finish(const std::string& communicator) {
    Checkpoints& checkpoints = files_->checkpoints;
    checkpoints.finish();
    RunReport& report = computed_->report;
    if (checkpoints.totals().written + checkpoints.totals().failed > 0) report.checkpoints = checkpoints.totals();
    report.tool_version = settings_.tool_version;
    report.command_line = settings_.command_line;
    if (!infers()) report.settings = recorded(settings_, plan_, options_);
    report.backend = settings_.backend;
    report.communicator = communicator;
    report.written = outputs_.written();
    if (outputs_.not_finite()) report.not_finite = outputs_.not_finite()->found;
    if (computed_->trace) {
        computed_->trace->tool_version = report.tool_version;
        computed_->trace->command_line = report.command_line;
    }
    io::WeightFacts weight_facts;
    for (Fact& fact : facts_of_model(settings_, plan_.problem))
        weight_facts.emplace_back(std::move(fact.name), std::move(fact.value));
    weight_facts.emplace_back(io::option_fact("feature-norm"), name_of(settings_.feature_norm));
    note_unwritten(report);
    std::vector<Error> failures = write_artifacts(
        settings_, {report, computed_->trace, files_->weights, weight_facts, *files_, outputs_.logits_failure()});
    std::optional<std::string> resume_from;
    if (outputs_.layers()) {
        resume_from = outputs_.layers()->path;
    } else if (checkpoints.newest()) {
        resume_from = checkpoints.newest()->path;
    }
    return {std::move(report), std::move(failures), outputs_.not_finite(), std::move(resume_from)};
}

}  // namespace gnnplan::run
