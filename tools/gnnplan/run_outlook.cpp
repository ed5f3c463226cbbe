#include "tools/gnnplan/run_outlook.hpp"

#include "runtime/train/trials.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/table.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <numeric>
#include <vector>

namespace gnnplan::tools {
namespace {

// From which epoch on making something once, for all of them, is faster than making it in each: of a plan that does, or
// of one that is for fewer of them.
std::string kept_text(const Plan& plan) {
    const Candidate& chosen = plan.candidates.front();
    const bool keeps = chosen.configuration.cached_aggregation;
    const auto other = std::ranges::find_if(plan.alternatives, [&](const Alternative& a) {
        const bool same_network = a.choice.key == "cached_aggregation" || a.choice.key == "forward";
        return same_network && a.configuration.cached_aggregation != keeps;
    });
    if (other == plan.alternatives.end()) return "";
    const Prediction& kept = keeps ? chosen.predicted : other->predicted;
    const Prediction& made = keeps ? other->predicted : chosen.predicted;
    const double once = kept.kept_seconds * static_cast<double>(plan.problem.run.epochs);
    const double saved = made.epoch_seconds - kept.epoch_seconds;
    if (saved <= 0) return "";
    return fmt::format("; ÂX once, {}, {} from epoch {} on", format_seconds(once, plan.machine),
                       keeps ? "pays" : "would pay", format_count(static_cast<std::int64_t>(once / saved) + 1));
}

std::string time_line(const Plan& plan) {
    const Candidate& chosen = plan.candidates.front();
    const RunRecord& run = plan.problem.run;
    const auto seconds = [&](double value) { return format_seconds(value, plan.machine); };
    const std::int64_t every = run.eval_every.value_or(automatic_eval_every(chosen));
    const auto count = static_cast<double>(evaluations(run.epochs, every));
    const double setup = predicted_seconds(chosen, Phase::setup);
    const double training = static_cast<double>(run.epochs) * chosen.predicted.epoch_seconds;
    const double one = predicted_seconds(chosen, Phase::evaluation);
    const std::string evaluation =
        every == 0 ? "no evaluation"
                   : fmt::format("evaluation {} ({} x {}, every {})", seconds(count * one), count, seconds(one),
                                 every == 1 ? "epoch" : fmt::format("{} epochs", format_count(every)));
    return labelled("run",
                    fmt::format("{} epochs: training {}, {}{}; {} in all, without loading and preparing the data{}",
                                format_count(run.epochs), seconds(training), evaluation,
                                setup > 0 ? fmt::format(", one-time setup {}", seconds(setup)) : "",
                                seconds(setup + training + count * one), kept_text(plan)));
}

std::string pass_line(const Plan& plan) {
    const Prediction& predicted = plan.candidates.front().predicted;
    const auto seconds = [&](double value) { return format_seconds(value, plan.machine); };
    const std::string setup =
        predicted.setup_seconds > 0 ? fmt::format("requests for rows {}, ", seconds(predicted.setup_seconds)) : "";
    std::string without = plan.candidates.front().configuration.parts > 1 ? "partitioning" : "";
    if (predicted.loading.features == 0) without += without.empty() ? "reading features" : " and reading features";
    return labelled("run", fmt::format("loading {}, {}one pass {}; {} in all{}", seconds(predicted.loading.total()),
                                       setup, seconds(predicted.epoch_seconds), seconds(predicted.shown_seconds()),
                                       without.empty() ? "" : ", without " + without)) +
           labelled("memory", fmt::format("{} per rank", format_memory(predicted.peak_bytes_per_rank)));
}

// The memory while candidates are tried, when a run tries any.
std::string tuning_line(const Plan& plan, const GraphStats& graph) {
    const train::TuningRules rules = train::tuning_rules(std::nullopt, plan.problem.run.epochs, {});
    if (!graph.exact() || plan.candidates.size() < 2 || rules.epochs_each == 0) return "";
    std::vector<int> all(plan.candidates.size());
    std::iota(all.begin(), all.end(), 0);
    const train::Trials trials =
        train::fitting_trials(plan, all, graph, plan.problem.ranks > 1, plan.machine.tensor_memory());
    const std::string peak = format_memory(plan.candidates.front().predicted.peak_bytes_per_rank);
    if (trials.trials.size() < 2) {
        return labelled("memory",
                        fmt::format("{} per rank; too little is allowed for gnnrun to try other candidates", peak));
    }
    return labelled(
        "memory", fmt::format("{} per rank; up to {} while gnnrun tries other candidates (not with --autotune 0)", peak,
                              format_memory(trials.peak_bytes)));
}

}  // namespace

std::string run_outlook(const Plan& plan, const GraphStats& graph) {
    if (plan.problem.task == Task::infer) return pass_line(plan);
    return time_line(plan) + tuning_line(plan, graph);
}

}  // namespace gnnplan::tools
