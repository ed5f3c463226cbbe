#include "tools/gnnrun/words.hpp"

#include "kernels/backend.hpp"
#include "planner/cost/predict.hpp"
#include "planner/cost/rescale.hpp"
#include "planner/io/report.hpp"
#include "runtime/comm/device_exchange.hpp"
#include "runtime/comm/launcher.hpp"
#include "runtime/deploy/report.hpp"
#include "tools/common/main.hpp"
#include "tools/gnnrun/dropout_note.hpp"
#include "tools/gnnrun/dry_run.hpp"
#include "tools/gnnrun/interruption.hpp"
#include "tools/gnnrun/launch.hpp"
#include "tools/gnnrun/summary.hpp"
#include "tools/gnnrun/timeout.hpp"
#include "tools/text/format.hpp"
#include "tools/text/option_names.hpp"
#include "tools/text/probe_text.hpp"
#include "tools/text/streams.hpp"
#include "tools/text/table.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace gnnplan::tools {
namespace {

// Epochs of the first candidate on the machine as a probe finds it, over what its plan says: of a graph that has the
// sizes of the plan's, and nothing else of it.
double times_as_long(const Plan& plan, const ProbeFigures& now) {
    const Schedule& schedule = plan.candidates.front().schedule;
    const std::shared_ptr<const GraphStats> sizes = sizes_of(plan, schedule.numbering);
    const auto seconds = [&](const Machine& machine) { return cost::predict(schedule, *sizes, machine).epoch_seconds; };
    return seconds(cost::rescaled(plan.machine, now)) / seconds(plan.machine);
}

// The mean of some losses, and its standard error.
std::pair<double, double> mean_loss(std::span<const EpochRecord> epochs) {
    double sum = 0, squares = 0;
    for (const EpochRecord& epoch : epochs) sum += epoch.loss;
    const auto count = static_cast<double>(epochs.size());
    for (const EpochRecord& epoch : epochs) squares += std::pow(epoch.loss - sum / count, 2);
    return {sum / count, std::sqrt(squares) / count};
}

// The command that goes on from a checkpoint or a folder of layers: that of this run with another --resume. It leaves
// --load-weights out where `keeps_weights` is false, as checkpoints have weights of their own.
std::string resuming_command(const RunFlags& flags, int processes, const std::string& from, bool keeps_weights) {
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < flags.arguments.size(); ++i) {
        const std::string& argument = flags.arguments[i];
        const auto is = [&](const std::string& flag) { return argument == flag || argument.starts_with(flag + "="); };
        if (!is("--resume") && (keeps_weights || !is("--load-weights"))) {
            arguments.push_back(argument);
        } else if (argument.find('=') == std::string::npos) {
            ++i;  // and its value
        }
    }
    arguments.insert(arguments.end(), {"--resume", from});
    const std::string start = processes > 1 ? comm::start_command_here(processes, mpi_library()) + " " : "";
    return start + command_line(arguments);
}

}  // namespace

void Words::note(const std::string& line) {
    if (!speaks_ || flags_.quiet) return;
    if (progress_) return progress_->say(line);
    say_line(line);
}

void Words::detail(const std::string& line) {
    if (flags_.verbose) note(line);
}

void Words::warn(const std::string& line) {
    if (progress_) progress_->end_line();
    say_line(line);
}

std::string Words::in_words(const std::string& text) const { return with_dashes(text); }

void Words::data_matches(const Plan& plan, const train::TrainOptions& options) {
    infers_ = plan.problem.task == Task::infer;
    if (const std::optional<std::string> text = dropout_note(plan, flags_, options)) note(*text);
}

void Words::checked(const Plan& plan, const data::Dataset& dataset, const train::TrainOptions& options) {
    if (!flags_.dry_run || !speaks_) return;
    const TensorMemory memory = kernels::tensor_memory(flags_.backend);
    const std::int64_t messages = comm::message_bytes(flags_.device_exchange, plan.problem.ranks);
    print(flags_.json ? dry_run_json(plan, dataset, options, memory, messages)
                      : dry_run_text(plan, dataset, options, memory, messages, use_color(flags_.color)));
}

void Words::begins(const train::TrainOptions& options) {
    progress_.emplace(options.epochs, options.runs, flags_.quiet, clock_);
}

void Words::probed(const Plan& plan, const ProbeFigures& now) {
    const ProbeReference& reference = plan.machine.calibration->probe.value();
    const ProbeFigures& then = plan.machine.probe ? *plan.machine.probe : reference.middle;
    const std::string change = change_text(then, now);
    if (!has_changed(reference, then, now)) return detail("note: this machine is as its calibration saw it: " + change);
    note(fmt::format(
        "note: this machine has changed since the plan's rates were measured: {}; epochs should take {:.2f} "
        "times as long as predicted",
        change, times_as_long(plan, now)));
}

void Words::computes() {
    constexpr const char* epoch = "finishing the epoch; a second signal ends the run at once\n";
    constexpr const char* step = "finishing the step; a second signal ends the run at once\n";
    catch_interruptions(!speaks_ || flags_.quiet ? nullptr : infers_ ? step : epoch);
}

void Words::run(int run, std::uint64_t seed) {
    progress_->begin_run(run);
    note(fmt::format("run {} of {}: seed {}", run + 1, flags_.runs, seed));
}

void Words::epoch(const EpochRecord& epoch) { progress_->show(epoch); }

std::optional<std::string> Words::stop() { return interruption(); }

void Words::stuck(const std::string& where) { end_stuck_process(where); }

std::string Words::hint_of_divergence(const Plan& plan) const {
    if (infers_) {
        return fmt::format("look for what is too large for sums in fp32: {}the features, the weights of {}",
                           plan.problem.graph.edge_weights ? "the weights of edges, " : "",
                           flags_.load_weights.value_or("the model"));
    }
    std::string hint = run_record(flags_.question, plan.problem.run).feature_norm == FeatureNorm::row
                           ? "lower --lr"
                           : "lower --lr, or use --feature-norm row";
    if (flags_.load_weights) hint += fmt::format("; it began with the weights of {}", *flags_.load_weights);
    return hint;
}

void Words::say_how_to_go_on(const std::optional<std::string>& resume_from, int processes) const {
    if (resume_from) {
        say("resume with: {}\n", resuming_command(flags_, processes, *resume_from, infers_));
    } else if (infers_) {
        say("nothing was saved: with --save-layers DIR a pass goes on where it ended\n");
    }
}

void Words::say_whether_loss_rose(const RunReport& report) {
    if (report.ending == Ending::diverged || report.epochs.size() < 2) return;
    // Losses of batches scatter: the last ones have risen when their mean is surely above the first.
    constexpr std::size_t of_batches = 20;
    const std::size_t many = report.batches ? std::min(of_batches, report.epochs.size() / 2) : 1;
    const double first = report.epochs.front().loss;
    const auto [last, error] = mean_loss(std::span<const EpochRecord>(report.epochs).last(many));
    if (last > 1.1 * first && last - first > 3 * error) {
        note(fmt::format("note: the loss rose from {} to {}: lower --lr", format_loss(first), format_loss(last)));
    }
}

int Words::conclude(const Plan& plan, const run::Outcome& outcome, int processes) {
    progress_.reset();
    for (const Error& failure : outcome.failures) say_error(failure.what());
    const RunReport& report = outcome.report;
    print(flags_.json ? io::write_report(report) : summary(report, plan.machine, use_color(flags_.color)));
    if (const auto mismatch = deploy::byte_mismatch(report); mismatch && !report.steps.empty()) {
        throw Error(ErrorCode::internal, "the bytes counted are not the bytes predicted, which is a bug: " + *mismatch);
    }
    say_whether_loss_rose(report);
    if (report.ending == Ending::interrupted) say_how_to_go_on(outcome.resume_from, processes);
    if (outcome.not_finite)
        throw Error(outcome.not_finite->code(), outcome.not_finite->what(), {}, hint_of_divergence(plan));
    if (report.ending == Ending::diverged) {
        throw Error(ErrorCode::answer_no, *report.ended, fmt::format("epoch {}", report.epochs.back().epoch),
                    hint_of_divergence(plan));
    }
    if (!outcome.failures.empty()) return static_cast<int>(ErrorCode::io);
    return report.ending == Ending::interrupted ? static_cast<int>(ErrorCode::interrupted) : 0;
}

}  // namespace gnnplan::tools
