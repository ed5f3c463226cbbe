#include "tools/gnnrun/summary.hpp"

#include "tools/gnnrun/progress.hpp"
#include "tools/gnnrun/runs_table.hpp"
#include "tools/text/format.hpp"
#include "tools/text/lines.hpp"
#include "tools/text/run_course.hpp"
#include "tools/text/table.hpp"
#include "tools/text/trust.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace gnnplan::tools {
namespace {

constexpr std::size_t text_begin = 12;

struct KindTotal {
    std::string kind;
    int steps = 0;
    std::int64_t predicted_bytes = 0;
    std::int64_t counted_bytes = 0;
    double predicted_seconds = 0;
    double measured_seconds = 0;
};

void add(KindTotal& total, const StepRecord& step) {
    ++total.steps;
    total.predicted_bytes += step.predicted_bytes;
    total.counted_bytes += step.counted_bytes;
    total.predicted_seconds += step.predicted_seconds;
    total.measured_seconds += step.measured_seconds;
}

// Kinds by the time they took, longest first.
std::vector<KindTotal> totals_by_kind(const std::vector<StepRecord>& steps) {
    std::vector<KindTotal> totals;
    for (const StepRecord& step : steps) {
        auto total =
            std::find_if(totals.begin(), totals.end(), [&](const KindTotal& t) { return t.kind == step.kind; });
        if (total == totals.end()) {
            totals.push_back({.kind = step.kind});
            total = totals.end() - 1;
        }
        add(*total, step);
    }
    std::stable_sort(totals.begin(), totals.end(),
                     [](const KindTotal& a, const KindTotal& b) { return a.measured_seconds > b.measured_seconds; });
    return totals;
}

std::string ratio(double measured, double predicted) {
    return predicted > 0 ? fmt::format("{:.2f}", measured / predicted) : "-";
}

void add_row(Table& table, const KindTotal& total, const Machine& machine, bool emphasised) {
    table.add({total.kind, std::to_string(total.steps), format_bytes(total.predicted_bytes),
               format_bytes(total.counted_bytes), format_seconds(total.predicted_seconds, machine),
               format_seconds(total.measured_seconds), ratio(total.measured_seconds, total.predicted_seconds)},
              emphasised);
}

std::string step_table(const RunReport& report, const Machine& machine, bool color) {
    Table table({{"step"},
                 {"count", Align::right},
                 {"bytes predicted", Align::right},
                 {"counted", Align::right},
                 {"time predicted", Align::right},
                 {"measured", Align::right},
                 {"ratio", Align::right}});
    for (const KindTotal& total : totals_by_kind(report.steps)) add_row(table, total, machine, false);
    add_row(table,
            {report.task == Task::infer ? "the pass" : "one epoch", static_cast<int>(report.steps.size()),
             report.predicted.total_bytes, report.measured.total_bytes, report.predicted.epoch_seconds,
             report.measured.epoch_seconds},
            machine, true);
    return table.text(color);
}

// The step whose prediction is off by most seconds.
std::string worst_step(const std::vector<StepRecord>& steps, const Machine& machine) {
    const auto error = [](const StepRecord& s) { return std::abs(s.measured_seconds - s.predicted_seconds); };
    const auto worst = std::max_element(steps.begin(), steps.end(),
                                        [&](const StepRecord& a, const StepRecord& b) { return error(a) < error(b); });
    if (worst == steps.end()) return {};
    return labelled("worst step",
                    fmt::format("{} ({} x {}): predicted {}, measured {}", worst->name, format_count(worst->rows),
                                format_count(worst->columns), format_seconds(worst->predicted_seconds, machine),
                                format_seconds(worst->measured_seconds)),
                    text_begin);
}

std::string both_memories(std::int64_t predicted, std::int64_t measured) {
    return fmt::format("{} predicted, {} measured ({})", format_memory(predicted), format_memory(measured),
                       predicted == measured ? "equal to the byte" : "NOT EQUAL");
}

std::string peak_lines(const RunReport& report) {
    std::string text = fmt::format(
        "peak/rank   {}\n", both_memories(report.predicted.peak_bytes_per_rank, report.measured.peak_bytes_per_rank));
    if (report.measured.host_peak_bytes > 0) {
        text += fmt::format("  of host   {}\n",
                            both_memories(report.predicted.host_peak_bytes, report.measured.host_peak_bytes));
    }
    if (report.tuning_peak && report.tried.size() > 1) {
        text += fmt::format("  tuning    {}\n",
                            both_memories(report.tuning_peak->predicted_bytes, report.tuning_peak->measured_bytes));
    }
    return text;
}

std::string configuration_line(const RunReport& report) {
    const Configuration& c = report.configuration;
    const bool infers = report.task == Task::infer;
    const std::string backward = infers ? "" : fmt::format(", backward {}", format_orders(text(c.backward)));
    std::string line = fmt::format("candidate {}: {} on grid {}, forward {}{}, R_A {}", report.chosen + 1, scheme_of(c),
                                   c.grid.text(), format_orders(text(c.forward)), backward, replication_of(c));
    if (!report.tried.empty()) {
        line += fmt::format("; best of {} tried", report.tried.size());
    }
    if (!report.fanout.empty()) line += fmt::format("; neighbours drawn: {}", fmt::join(report.fanout, ", "));
    return labelled(infers ? "inferred" : "trained", line, text_begin);
}

// The predicted times of an inference, in the terms of the line above; its setup is the requests for rows alone.
std::string predicted_line(const RunReport& report, const Machine& machine) {
    const Prediction& predicted = report.predicted;
    if (predicted.loading == LoadingSeconds()) return "";
    const auto seconds = [&](double value) { return format_seconds(value, machine); };
    const std::string setup =
        predicted.setup_seconds > 0 ? "setup without features " + seconds(predicted.setup_seconds) + ", " : "";
    return fmt::format("predicted   load {}, {}pass {}\n", seconds(predicted.loading.total()), setup,
                       seconds(predicted.epoch_seconds));
}

// Where the time went, and what evaluating less often would save; lines that are as many however long times are.
std::string time_lines(const RunReport& report, const Machine& machine) {
    if (!report.wall) return "";
    const WallTimes& wall = *report.wall;
    if (report.task == Task::infer) {
        return fmt::format("time        load {}, setup {}, pass {}, total {}\n", format_seconds(wall.load_seconds),
                           format_seconds(wall.setup_seconds), format_seconds(wall.pass_seconds),
                           format_seconds(wall.total_seconds)) +
               predicted_line(report, machine);
    }
    const std::string evaluation =
        wall.evaluations > 0 ? "evaluation " + format_seconds(wall.evaluation_seconds) : "no evaluation";
    std::string lines =
        fmt::format("time        load {}, setup {}, training {}, {}, total {}\n", format_seconds(wall.load_seconds),
                    format_seconds(wall.setup_seconds), format_seconds(wall.training_seconds), evaluation,
                    format_seconds(wall.total_seconds));
    if (wall.evaluations == 0) return lines;
    const double each = wall.evaluation_seconds / static_cast<double>(wall.evaluations);
    lines += fmt::format("            evaluation {} x {}", format_count(wall.evaluations), format_seconds(each));
    if (report.eval_every && wall.evaluations > 1 &&
        wall.evaluation_seconds > 2 * evaluation_share * wall.training_seconds) {
        const auto epochs = std::ssize(report.epochs) - report.resumed_after.value_or(0);
        const auto less = evaluations(epochs, *report.eval_every * 10);
        lines += fmt::format("; --eval-every {} would save {}", format_count(*report.eval_every * 10),
                             format_seconds(each * static_cast<double>(wall.evaluations - less)));
    }
    return lines + "\n";
}

// How long updates waited for their batches.
std::string batches_line(const RunReport& report, const Machine& machine) {
    if (!report.batches) return "";
    const BatchTotals& batches = *report.batches;
    return labelled("batches",
                    fmt::format("of an update {}: {} {}, cutting {}; {} predicted for both", batches.per_update,
                                batches.drawn_ahead ? "waiting for those that are drawn ahead" : "drawing",
                                format_seconds(batches.draw_seconds), format_seconds(batches.cut_seconds),
                                format_seconds(batches.predicted_seconds, machine)),
                    text_begin);
}

std::string best_line(const RunReport& report) {
    if (!report.best_epoch) return "";
    const EpochRecord& best = report.epochs[static_cast<std::size_t>(*report.best_epoch - 1)];
    const bool by_loss = report.settings && report.settings->best_by == BestBy::loss && best.valid_loss;
    return fmt::format("best        epoch {}: {}{}\n", *report.best_epoch, describe(best),
                       by_loss ? "  valid loss " + format_loss(*best.valid_loss) : "");
}

std::string outcome_of_training(const RunReport& report, bool color) {
    const EpochRecord& last = report.epochs.back();
    const std::string ending = ending_text(report);
    if (!report.runs.empty()) return (ending.empty() ? "" : ending + "\n") + runs_table(report, color);
    return (ending.empty() ? "" : ending + "\n") +
           bold(fmt::format("epoch {}    {}", last.epoch, describe(last)), color) + "\n" + best_line(report);
}

std::string outcome_of_inference(const RunReport& report, bool color) {
    std::string text = report.ended ? fmt::format("ended early: {}\n", *report.ended) : "";
    if (!report.judgement.any()) return text;
    for (const Metric* by : shown_metrics(report.judgement))
        text += bold(fmt::format("{:<12}{}", by->name, describe(report.judgement.*by->sets)), color) + "\n";
    return text;
}

// How long training waited for them.
std::string checkpoint_line(const RunReport& report) {
    if (!report.checkpoints) return "";
    const CheckpointTotals& totals = *report.checkpoints;
    return fmt::format("checkpoints {} written{}, {}\n", totals.written,
                       totals.failed > 0 ? fmt::format(", {} NOT WRITTEN", totals.failed) : "",
                       format_seconds(totals.seconds));
}

std::string written_lines(const RunReport& report) {
    std::string lines;
    for (const WrittenFile& file : report.written) {
        lines += fmt::format("{:<12}{}, {}\n", lines.empty() ? "written" : "", file.path, format_memory(file.bytes));
    }
    return lines;
}

// An inference that went on where an earlier one had ended.
std::string layers_line(const RunReport& report) {
    if (report.task != Task::infer || !report.resumed_after) return "";
    const char* const rest = report.ended           ? "the pass was not made to its end"
                             : report.steps.empty() ? "all layers were there"
                                                    : "bytes and times are of what came after it";
    return fmt::format("resumed     after layer {}: {}\n", *report.resumed_after, rest);
}

}  // namespace

std::string summary(const RunReport& report, const Machine& machine, bool color) {
    const bool infers = report.task == Task::infer;
    const std::string outcome = infers ? outcome_of_inference(report, color) : outcome_of_training(report, color);
    const std::string left = layers_line(report);
    if (report.steps.empty() && !infers)
        return outcome + "trained     nothing: the checkpoint is of the end of the run\n" + written_lines(report);
    const std::string steps = report.steps.empty() ? "" : "\n" + step_table(report, machine, color) + "\n";
    return outcome + configuration_line(report) + steps + worst_step(report.steps, machine) +
           batches_line(report, machine) + time_lines(report, machine) + left + checkpoint_line(report) +
           written_lines(report) + peak_lines(report);
}

}  // namespace gnnplan::tools
