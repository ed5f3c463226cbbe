#include "tools/gnnplan/analysis_output.hpp"

#include "tools/advise/configuration_text.hpp"
#include "tools/advise/plan_text.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/run_course.hpp"
#include "tools/text/table.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gnnplan::tools {
namespace {

std::string ratio_text(const TimePair& seconds) {
    const std::optional<double> ratio = seconds.ratio();
    return ratio ? fmt::format("{:.2f}", *ratio) : "-";
}

std::string error_text(const TimePair& seconds) {
    return (seconds.error() < 0 ? "-" : "+") + format_seconds(std::abs(seconds.error()));
}

std::string bytes_text(std::int64_t bytes) { return bytes > 0 ? format_bytes(bytes) : "-"; }

std::string step_table(const Analysis& analysis, bool color) {
    Table table({{"step"},
                 {"shape", Align::right},
                 {"bytes", Align::right},
                 {"predicted", Align::right},
                 {"measured", Align::right},
                 {"ratio", Align::right},
                 {"off by", Align::right},
                 {"of error", Align::right},
                 {"worst"}});
    for (const StepAnalysis& step : analysis.steps) {
        table.add({step.name, fmt::format("{}x{}", step.rows, step.columns), bytes_text(step.bytes),
                   format_predicted(step.seconds.predicted, analysis.calibrated), format_seconds(step.seconds.measured),
                   ratio_text(step.seconds), error_text(step.seconds), fmt::format("{:.0f} %", 100 * step.share),
                   step.worst > 0 ? fmt::format("<- #{}", step.worst) : ""},
                  step.worst > 0);
    }
    table.leave_out_if_wider("shape", line_width());
    return table.text(color);
}

std::string totals_table(const Analysis& analysis, bool infers, bool color) {
    Table table({{"work"},
                 {"steps", Align::right},
                 {"bytes", Align::right},
                 {"predicted", Align::right},
                 {"measured", Align::right},
                 {"ratio", Align::right},
                 {"off by", Align::right}});
    std::int64_t bytes = 0;
    for (const WorkTotal& total : analysis.totals) {
        bytes += total.bytes;
        table.add({std::string(text_of(total.work)), std::to_string(total.steps), bytes_text(total.bytes),
                   format_predicted(total.seconds.predicted, analysis.calibrated),
                   format_seconds(total.seconds.measured), ratio_text(total.seconds), error_text(total.seconds)});
    }
    if (analysis.batches)
        table.add({"batches", "-", "-", format_predicted(analysis.batches->predicted, analysis.calibrated),
                   format_seconds(analysis.batches->measured), ratio_text(*analysis.batches),
                   error_text(*analysis.batches)});
    constexpr double shown = 0.02;  // of the epoch
    if (analysis.outside_seconds > shown * analysis.epoch.measured)
        table.add({"in no step", "-", "-", "-", format_seconds(analysis.outside_seconds), "-", "-"});
    table.add({infers ? "the pass" : "one epoch", std::to_string(analysis.steps.size()), bytes_text(bytes),
               format_predicted(analysis.epoch.predicted, analysis.calibrated), format_seconds(analysis.epoch.measured),
               ratio_text(analysis.epoch), error_text(analysis.epoch)},
              true);
    return table.text(color);
}

// The table of the time before the pass of an inference.
std::string setup_table(const Analysis& analysis, bool color) {
    if (analysis.setup.empty()) return "";
    Table table({{"before the pass"},
                 {"bytes", Align::right},
                 {"predicted", Align::right},
                 {"measured", Align::right},
                 {"ratio", Align::right},
                 {"off by", Align::right}});
    for (const SetupAnalysis& each : analysis.setup) {
        const bool predicted = each.seconds.predicted > 0;
        table.add({each.name, bytes_text(each.bytes),
                   predicted ? format_predicted(each.seconds.predicted, analysis.calibrated) : "-",
                   format_seconds(each.seconds.measured), ratio_text(each.seconds),
                   predicted ? error_text(each.seconds) : "-"});
    }
    return table.text(color) + "\n";
}

}  // namespace

std::string analysis_text(const Analysis& analysis, const RunReport& report, bool color) {
    const std::string course = course_text(report);
    const std::string head =
        labelled("run", fmt::format("candidate {} of the plan: {}", report.chosen + 1,
                                    configuration_text(report.configuration))) +
        labelled("", fmt::format("on {} rank{} ({}), {} thread{} each", report.ranks, report.ranks == 1 ? "" : "s",
                                 report.communicator, report.threads, report.threads == 1 ? "" : "s")) +
        (course.empty() ? "" : labelled("", course)) + "\n";
    const std::string waiting =
        analysis.waiting_seconds > 0
            ? fmt::format("Steps, each of its slowest rank, add up to {} more than the {}: ranks waiting.\n",
                          format_seconds(analysis.waiting_seconds), time_name(report.task))
            : "";
    return head + setup_table(analysis, color) + step_table(analysis, color) + "\n" +
           totals_table(analysis, report.task == Task::infer, color) + waiting + "\n" +
           wrapped(bold("hint", color) + "     ", "         ", analysis.hint.text);
}

}  // namespace gnnplan::tools
