#include "runtime/train/tuning.hpp"

#include "planner/cost/likely.hpp"
#include "runtime/deploy/fitting.hpp"
#include "runtime/deploy/match.hpp"
#include "runtime/train/trials.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gnnplan::train {
namespace {

std::vector<int> candidates_of(const std::vector<Trial>& trials) {
    std::vector<int> candidates;
    std::transform(trials.begin(), trials.end(), std::back_inserter(candidates),
                   [](const Trial& trial) { return trial.candidate; });
    return candidates;
}

// Returns the run that training goes on in, of several, and the epoch that it has done.
std::pair<int, std::int64_t> begun(const TrainingState* start) {
    if (start == nullptr) return {0, 0};
    return {static_cast<int>(start->runs_before.size()), start->epoch};
}

// Tells a tuner what another one was told.
void replay(Autotuner& tuner, const TuningLog& log, const std::vector<EpochRecord>& epochs) {
    auto built = log.built.begin();
    for (const EpochRecord& epoch : epochs) {
        if (epoch.epoch < log.first) continue;
        for (; built != log.built.end() && built->epoch <= epoch.epoch; ++built) {
            tuner.built(built->seconds, built->cut_seconds);
        }
        tuner.record(epoch.seconds);
    }
}

// The candidates that run on this graph, the fastest first; notes say why others do not.
std::vector<int> usable_here(const Plan& plan, const TrainOptions& options, const data::Dataset& dataset,
                             const std::optional<exec::GraphCounts>& graph, const TensorMemory& memory,
                             const std::optional<deploy::DeviceRoom>& room, std::vector<std::string>& notes) {
    const std::vector<int> planned = deploy::usable_candidates(plan, options.features_dropout());
    std::vector<int> usable = deploy::candidates_that_fit(
        plan, deploy::usable_candidates(plan, options.features_dropout(), &dataset), graph, memory, room);
    if (usable.size() < planned.size()) {
        notes.push_back("note: of " + std::to_string(planned.size()) + " candidates " + std::to_string(usable.size()) +
                        " can be used on this graph: rows that others leave out were estimated, or they need more "
                        "memory than is allowed or free; `plan/graph` with this path plans for it");
    }
    if (dataset.in_shares() && usable.size() > 1 && options.autotune.value_or(1) > 0) {
        notes.emplace_back("not tuning: the graph is loaded in shares for one candidate (`load whole` tunes)");
    }
    if (dataset.in_shares()) usable.resize(1);
    return usable;
}

// As cost::tie asks; of plans whose machine knows the error of whole epochs alone, that of the first one.
ErrorOfDifference error_of(const Plan& plan) {
    if (!plan.machine.calibration) return {};
    return [&plan](const Trial& a, const Trial& b) {
        const auto predicted = [&](const Trial& trial) -> const Prediction& {
            return plan.candidates[static_cast<std::size_t>(trial.candidate)].predicted;
        };
        if (cost::knows_errors(plan.machine))
            return cost::error_of_difference(predicted(a), predicted(b), plan.machine);
        return plan.machine.calibration->error_p90 * a.predicted_seconds;
    };
}

}  // namespace

Tuning begin_tuning(const Plan& plan, const TrainOptions& options, const data::Dataset& dataset,
                    const std::optional<exec::GraphCounts>& graph, bool keeps_features, const TensorMemory& memory,
                    const std::optional<deploy::DeviceRoom>& room) {
    std::vector<std::string> notes;
    const std::vector<int> usable = usable_here(plan, options, dataset, graph, memory, room, notes);
    const auto predicted = [&](int index) -> const Candidate& {
        return plan.candidates[static_cast<std::size_t>(index)];
    };
    const ErrorOfDifference error = error_of(plan);

    std::vector<Trial> trials{{usable.front(), predicted(usable.front()).predicted.epoch_seconds, usable.front()}};
    std::int64_t feature_bytes = 0;
    const auto [run, done] = begun(options.start);
    TuningLog log{plan.fingerprints.content, run, {}, options.epochs - done, done + 1, options.autotune, {}};
    TuningRules rules = tuning_rules(options.autotune, log.epochs, error);
    if (usable.size() > 1 && rules.epochs_each > 0) {
        const Trials fitting = fitting_trials(plan, usable, *graph, keeps_features, memory);
        if (fitting.trials.size() < 2) {
            notes.emplace_back("not tuning: the memory allowed holds too few candidates beside the loaded graph");
        } else {
            trials = fitting.trials;
            feature_bytes = fitting.feature_bytes;
        }
    }
    log.candidates = candidates_of(trials);
    const TuningLog* before = options.start == nullptr ? nullptr : &options.start->tuning;
    const bool goes_on =
        before != nullptr && before->plan == log.plan && before->candidates == log.candidates && trials.size() > 1;
    if (goes_on) {
        log = *before;
        rules = tuning_rules(log.asked, log.epochs, error);
    }
    Tuning tuning{Autotuner(std::move(trials), rules), std::move(log), feature_bytes,
                  options.eval_every.value_or(automatic_eval_every(predicted(usable.front()))), std::move(notes)};
    if (goes_on) {
        replay(tuning.tuner, tuning.log, options.start->epochs_of(tuning.log.run));
    } else if (!tuning.tuner.tuning() && tuning.log.candidates.size() > 1) {
        tuning.notes.push_back("not tuning: " + std::to_string(tuning.log.epochs) +
                               " epochs are too few to try two candidates");
    }
    if (!tuning.tuner.tuning()) tuning.feature_bytes = 0;
    return tuning;
}

}  // namespace gnnplan::train
