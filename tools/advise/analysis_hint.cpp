#include "tools/advise/analysis_pattern.hpp"
#include "tools/advise/plan_text.hpp"

#include "tools/text/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gnnplan::tools {
namespace {

constexpr double holds = 0.10;     // an epoch this close, with errors this small inside it, is as predicted
constexpr double waits = 0.15;     // of the epoch
constexpr double explains = 0.50;  // of the time that communication took beyond what was predicted

std::string factor(const TimePair& seconds) {
    const double ratio = seconds.ratio().value_or(0);
    if (ratio <= 0) return "time that was not predicted";
    return ratio >= 1 ? fmt::format("{:.2f}x the time predicted", ratio)
                      : fmt::format("{:.2f}x the time predicted (faster)", ratio);
}

Hint communication_hint(const Pattern& pattern, const WorkTotal& total) {
    const std::string opening = fmt::format("{} takes {}", text_of(total.work), factor(total.seconds));
    if (total.work == Work::communication && pattern.from_small_messages(total.work)) {
        return {"latency", opening +
                               ", mostly in steps that move little: the profile's latency is not this machine's, "
                               "or ranks arrive late. Run gnnplan calibrate under the same launcher."};
    }
    if (pattern.uniform(total)) {
        return {"bandwidth", opening +
                                 ", all steps by about the same factor: the profile's bandwidth is not this "
                                 "machine's. Run gnnplan calibrate under the same launcher."};
    }
    return {"exchange", opening +
                            ", not all steps alike: sizes of messages or links between nodes differ from what "
                            "the profile knows. Run gnnplan calibrate under the same launcher."};
}

Hint elementwise_hint(const Pattern& pattern, const WorkTotal& total, const std::string& opening,
                      const std::string& calibrate) {
    const StepAnalysis& step = pattern.worst_step(total.work);
    if (step.origin && step.origin->op == OpKind::dropout) {
        return {"dropout_rate", opening + ", most at " + step.name +
                                    ": dropout draws a random number for every element, which takes longer than "
                                    "reading it, and only a measured profile knows how long." +
                                    calibrate};
    }
    return {"memory_bandwidth", opening + ", most at " + step.name +
                                    ": the profile's memory bandwidth is not that of this machine." + calibrate};
}

Hint work_hint(const Pattern& pattern, const RunReport& report, const WorkTotal& total) {
    if (total.work == Work::communication || total.work == Work::spmm_exchange) {
        return communication_hint(pattern, total);
    }
    const std::string opening =
        fmt::format("{} takes {}, {}", text_of(total.work), factor(total.seconds), pattern.others(total));
    const std::string threads = fmt::format("{} thread{} a rank", report.threads, report.threads == 1 ? "" : "s");
    const std::string calibrate = " Run gnnplan calibrate with " + threads + ".";
    switch (total.work) {
        case Work::spmm:
            return {"spmm_rate",
                    opening +
                        ": sparse rates depend on how the graph's neighbours lie. Plan from the graph itself "
                        "(--graph PATH) with a calibrated profile; --permute off keeps the order it has."};
        case Work::gemm:
            return {"gemm_rate", opening + ": the profile's GEMM rate is not that of this machine." + calibrate};
        case Work::elementwise:
        case Work::optimiser: return elementwise_hint(pattern, total, opening, calibrate);
        case Work::communication:
        case Work::spmm_exchange: break;
    }
    return {};
}

Hint waiting_hint(const Analysis& analysis, const StepAnalysis& step, Task task) {
    return {"waiting",
            fmt::format("ranks wait for each other, {} of the {}'s {}, most at {}: work is not spread evenly, or "
                        "cores are shared. Look at gnnrun --trace; --permute on or --partition balance the nonzeros.",
                        format_seconds(analysis.waiting_seconds), time_name(task),
                        format_seconds(analysis.epoch.measured), step.name)};
}

// Whether the run's own words about placement (runtime/place) say that processing units are shared.
// Whether activations were costed with a dropout that the run did not ask for.
bool idle_dropout(const Analysis& analysis, const RunReport& report) {
    const bool known = report.settings || !report.command_line.empty();
    const bool drops =
        report.settings ? report.settings->dropout > 0 : report.command_line.find(" --dropout") != std::string::npos;
    if (!known || drops) return false;
    return std::any_of(analysis.steps.begin(), analysis.steps.end(), [](const StepAnalysis& step) {
        const bool activation =
            step.origin && activation_of(step.origin->op) != Activation::none && step.origin->pass == Pass::forward;
        return activation && step.seconds.ratio().value_or(1) * same_factor < 1;
    });
}

Hint pattern_hint(const Analysis& analysis, const RunReport& report) {
    const Pattern pattern(analysis);
    const std::optional<double> ratio = analysis.epoch.ratio();
    if (ratio && std::abs(*ratio - 1) <= holds && pattern.error() <= 2 * holds * analysis.epoch.predicted)
        return {"none", fmt::format("the prediction holds: the {} is within {:.0f} % of it.", time_name(report.task),
                                    100 * holds)};
    if (report.oversubscribed && analysis.epoch.error() > 0) {
        return {"oversubscribed",
                fmt::format("ranks x threads, {} x {}, are more than the processing units there are, so "
                            "they take turns and wait for each other. Run with fewer (--threads), or "
                            "plan for fewer ranks.",
                            report.ranks, report.threads)};
    }
    if (analysis.outside_seconds > waits * analysis.epoch.measured &&
        analysis.outside_seconds > explains * analysis.epoch.error()) {
        const char* const fewer = report.threads > 1 ? ", and run with fewer threads (--threads 1)" : "";
        return {"outside",
                fmt::format("{} of the {}'s {} are in no step: ranks stand still between steps, as they do where other "
                            "programs take the cores, or where threads have none of their own. Look at the load "
                            "(uptime){}.",
                            format_seconds(analysis.outside_seconds), time_name(report.task),
                            format_seconds(analysis.epoch.measured), fewer)};
    }
    const StepAnalysis* waiting = pattern.where_ranks_wait();
    if (waiting != nullptr && analysis.waiting_seconds > waits * analysis.epoch.measured &&
        analysis.waiting_seconds > explains * pattern.late_seconds()) {
        return waiting_hint(analysis, *waiting, report.task);
    }
    if (pattern.everything_alike()) {
        return {"machine", fmt::format("everything takes {}: the profile is of a machine of another speed, or of "
                                       "another number of threads than {}, or the cores are shared. Run gnnplan "
                                       "calibrate.",
                                       factor(analysis.epoch), report.threads)};
    }
    const WorkTotal& worst = pattern.worst();
    if (std::abs(worst.seconds.error()) > dominates * pattern.error()) return work_hint(pattern, report, worst);
    return {"spread",
            "the error is spread over several kinds of work: the profile's rates are not this machine's. Run "
            "gnnplan calibrate."};
}

}  // namespace

Hint hint_of(const Analysis& analysis, const RunReport& report, const std::optional<ProfileOrigin>& profile) {
    const bool counted_as_predicted = std::all_of(report.steps.begin(), report.steps.end(), [](const StepRecord& step) {
        return step.predicted_bytes == step.counted_bytes;
    });
    if (!counted_as_predicted) {
        return {"bytes", "the bytes counted are not the bytes predicted, which is a bug: times cannot be trusted."};
    }
    Hint hint = pattern_hint(analysis, report);
    if (hint.cause == "none") return hint;
    if (hint.cause != "oversubscribed" && report.oversubscribed) {
        hint.text += fmt::format(" There are fewer processing units than ranks x threads, {} x {}, too.", report.ranks,
                                 report.threads);
    }
    if (profile && profile->measured && idle_dropout(analysis, report)) {
        hint.text += " The plan's times of activations are with dropout, of which this run has none (--dropout).";
    }
    if (profile && !profile->measured) {
        hint.text += fmt::format(" The plan's machine, {}, is a preset that was not measured here.", profile->name);
    }
    return hint;
}

}  // namespace gnnplan::tools
