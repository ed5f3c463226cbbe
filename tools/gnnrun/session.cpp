#include "tools/gnnrun/session.hpp"

#include "planner/catalog/host.hpp"
#include "planner/io/files.hpp"
#include "planner/io/plan.hpp"
#include "planner/io/report.hpp"
#include "runtime/place/place.hpp"
#include "runtime/train/match.hpp"
#include "runtime/train/report.hpp"
#include "runtime/train/train.hpp"
#include "tools/common/main.hpp"
#include "tools/common/streams.hpp"
#include "tools/common/table.hpp"
#include "tools/common/version.hpp"
#include "tools/gnnrun/artifacts.hpp"
#include "tools/gnnrun/discards.hpp"
#include "tools/gnnrun/dry_run.hpp"
#include "tools/gnnrun/interruption.hpp"
#include "tools/gnnrun/progress.hpp"
#include "tools/gnnrun/summary.hpp"
#include "tools/gnnrun/trace.hpp"

#include <gnnplan/base/memory_text.hpp>
#include <gnnplan/base/out_of_memory.hpp>

#include <fmt/format.h>

namespace gnnplan::tools {

Plan load_plan(const RunFlags& flags) {
    Plan plan = io::read_plan(io::read_file(flags.plan), flags.plan);
    check_predicted_bytes(plan);
    return plan;
}

namespace {

// Binds this rank's threads unless told not to. Where they run, in words.
std::string place_threads(comm::Communicator& comm, const RunFlags& flags, int threads, Progress& progress) {
    if (flags.bind != "on") return "threads are not bound: --bind off";
    const place::Placement placement = place::bind_threads(comm, threads);
    if (placement.warning) progress.say("warning: " + placement.note);
    if (flags.verbose && !placement.warning) progress.say(placement.note);
    return placement.note;
}

}  // namespace

Session::Session(const RunFlags& flags, Plan plan, bool speaks)
    : flags_(flags), plan_(std::move(plan)), speaks_(speaks), options_(train_options(flags, plan_)) {
    train::leave_out_idle_dropout(plan_, options_);
}

void Session::open_data() {
    train::usable_candidates(plan_, options_);  // cheaper than reading the data to find out
    measure::SteadyClock clock;
    const double start = clock.now();
    dataset_.emplace(data::open_dataset(flags_.data, dataset_options(flags_, plan_)));
    if (speaks_ && !flags_.quiet) say("{}: {}\n", flags_.data, dataset_->report().describe());
    train::match_data(plan_, *dataset_);
    if (const auto note = discard_note(plan_, options_); note && speaks_ && !flags_.quiet) {
        say("{}\n", *note);
    }
    options_.load_seconds = clock.now() - start;
}

void Session::check_memory(int ranks_here) const {
    if (plan_.machine.accelerators || flags_.dry_run) return;
    const std::int64_t memory = catalog::read_host().memory_bytes;
    const auto first = static_cast<std::size_t>(train::usable_candidates(plan_, options_).front());
    const Prediction& predicted = plan_.candidates[first].predicted;
    if (predicted.estimate || predicted.peak_bytes_per_rank <= memory / ranks_here) return;
    throw memory_error(fmt::format("{} rank{} here need {} each, this machine allows {} in all", ranks_here,
                                   ranks_here == 1 ? "" : "s", memory_text(predicted.peak_bytes_per_rank),
                                   memory_text(memory)));
}

void Session::show_dry_run() const {
    if (!speaks_) return;
    print(flags_.json ? dry_run_json(plan_, *dataset_, options_)
                      : dry_run_text(plan_, *dataset_, options_, use_color(flags_.color)));
}

void Session::train(comm::Communicator& comm, bool shared) {
    measure::SteadyClock clock;
    const bool first = comm.rank() == 0;
    Progress progress(options_.epochs, flags_.quiet || !first, clock);
    const std::string placement = place_threads(comm, flags_, options_.threads, progress);
    const auto& calibration = plan_.machine.calibration;
    if (calibration && calibration->threads.value_or(options_.threads) != options_.threads) {
        progress.say(fmt::format("the plan's times are of {} thread(s) a rank, this run has {} (--threads)",
                                 *calibration->threads, options_.threads));
    }
    if (calibration && comm.size() > 1 && calibration->processes.value_or(!shared) == shared) {
        progress.say(fmt::format("the plan's times are of ranks that are {}, these are {}: messages take other times",
                                 shared ? "processes (mpirun)" : "threads of one process",
                                 shared ? "threads of one process" : "processes (mpirun)"));
    }
    train::TrainHooks hooks;
    hooks.note = [&](const std::string& text) { progress.say(text); };
    if (first) metrics_ = std::make_unique<Metrics>(flags_.metrics);
    hooks.epoch = [&](const EpochRecord& epoch) {
        progress.show(epoch);
        if (first) metrics_->add(epoch);
    };
    if (first || !shared) catch_interruptions(first && !flags_.quiet);
    hooks.stop = interruption;
    std::optional<TraceRecorder> recorder;
    if (flags_.trace) {
        recorder.emplace(clock, comm.size());
        hooks.step = [&](std::int64_t epoch, const Step& step, const exec::Executor& executor) {
            recorder->step(epoch, step, executor);
        };
    }
    hooks.candidate = [&](int candidate) {
        if (recorder) recorder->restart();
        if (flags_.verbose) progress.say(fmt::format("building candidate {}", candidate + 1));
    };
    if (!shared) hooks.cache_features = [&] { dataset_->cache_features(); };
    if (first || !shared) {
        hooks.release_graph = [&] { dataset_->release_graph(); };
        hooks.release_features = [&] { dataset_->release_features(); };
    }
    if (shared) {
        // Threads would each read the whole file for their block of it.
        if (first) dataset_->cache_features();
        comm.barrier();
    }
    measure::Clock& looked_at = recorder ? recorder->clock() : clock;
    RunReport report = train::train(comm, plan_, *dataset_, options_, hooks, looked_at);
    report.placement = placement;
    if (recorder) {
        const std::vector<measure::Timeline> ranks = recorder->gather(comm);
        if (first) trace_ = make_trace(plan_, report, ranks);
    }
    if (first) report_ = std::move(report);
}

int Session::finish(const std::string& communicator) {
    if (!speaks_) return 0;
    report_->tool_version = version();
    report_->command_line = flags_.command_line;
    report_->backend = flags_.backend;
    report_->communicator = communicator;
    if (trace_) {
        trace_->tool_version = report_->tool_version;
        trace_->command_line = flags_.command_line;
    }
    const bool written = write_artifacts(flags_, *report_, trace_, *metrics_);
    print(flags_.json ? io::write_report(*report_) : summary(*report_, use_color(flags_.color)));
    if (const auto mismatch = train::byte_mismatch(*report_)) {
        throw Error(ErrorCode::internal, "the bytes counted are not the bytes predicted, which is a bug: " + *mismatch);
    }
    if (!written) return static_cast<int>(ErrorCode::io);
    return report_->ended ? static_cast<int>(ErrorCode::interrupted) : 0;
}

}  // namespace gnnplan::tools
