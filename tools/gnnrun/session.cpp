// Reading guide: launch.cpp says in which order a run calls these. Reading the start and opening the data come first,
// then open_outputs() and the checks of memory; run() is the work of one rank, with the hooks that write checkpoints,
// layers and embeddings; finish() writes the rest and prints the summary.
#include "tools/gnnrun/session.hpp"

#include "kernels/table.hpp"
#include "planner/io/report.hpp"
#include "runtime/comm/staged.hpp"
#include "runtime/graph/fingerprint.hpp"
#include "runtime/infer/infer.hpp"
#include "runtime/place/place.hpp"
#include "runtime/train/match.hpp"
#include "runtime/train/model_values.hpp"
#include "runtime/train/report.hpp"
#include "runtime/train/train.hpp"
#include "tools/common/main.hpp"
#include "tools/gnnrun/artifacts.hpp"
#include "tools/gnnrun/dropout_note.hpp"
#include "tools/gnnrun/dry_run.hpp"
#include "tools/gnnrun/interruption.hpp"
#include "tools/gnnrun/memory.hpp"
#include "tools/gnnrun/process_age.hpp"
#include "tools/gnnrun/progress.hpp"
#include "tools/gnnrun/shared_folder.hpp"
#include "tools/gnnrun/summary.hpp"
#include "tools/gnnrun/trace.hpp"
#include "tools/text/streams.hpp"
#include "tools/text/table.hpp"
#include "tools/text/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gnnplan::tools {

namespace {

// Binds this rank's threads unless told not to.
place::Placement place_threads(comm::Communicator& comm, const RunFlags& flags, int threads, Progress& progress) {
    if (flags.bind != "on") return {{}, "threads are not bound: --bind off"};
    place::Placement placement = place::bind_threads(comm, threads);
    if (placement.warning) progress.say("warning: " + placement.note);
    if (flags.verbose && !placement.warning) progress.say(placement.note);
    return placement;
}

// How the first candidate loads the graph, all do: the data is opened once.
Plan with_loading(const RunFlags& flags, Plan plan) {
    if (flags.load) plan.problem.loading = *flags.load == "sharded" ? Loading::sharded : Loading::whole;
    const Loading loading = loading_for(plan.candidates.front().schedule.numbering, plan.problem.loading);
    if (flags.load && loading != plan.problem.loading) {
        throw Error(ErrorCode::usage, "the whole graph decides how this plan numbers vertices", "--load sharded",
                    "use --load whole, or plan again without --partition and with --loss-rows off");
    }
    plan.problem.loading = loading;
    for (Candidate& candidate : plan.candidates) {
        const Loading planned = candidate.schedule.loading;
        candidate.schedule.loading = loading_for(candidate.schedule.numbering, loading);
        if (candidate.schedule.loading != planned) candidate.predicted.loading = {};  // is of another way
        if (loading == Loading::whole) candidate.predicted.dealt_bytes.clear();
    }
    return plan;
}

void begin_writing(comm::Communicator& comm) {
    comm.heartbeats()[static_cast<std::size_t>(comm.rank())]->enter(comm::Heartbeat::writing);
}

}  // namespace

Session::Session(const RunFlags& flags, Plan plan, bool speaks, int threads)
    : flags_(flags),
      plan_(with_loading(flags, std::move(plan))),
      speaks_(speaks),
      options_(train_options(flags, plan_, threads)),
      layers_(layer_folder(flags, plan_)),
      backend_(flags.dry_run ? kernels::Backend() : kernels::open_backend(flags.backend)) {
    train::leave_out_idle_dropout(plan_, options_);
    train::take_row_starts(plan_, kernels::tensor_memory(flags.backend));
    if (flags.time_limit) began_ -= process_age();  // waiting in MPI_Init counts, too
}

// Errors in what data has beside its graph may come of a plan for another graph, which then is what is to be said.
template <class Read>
void Session::read_data(const Read& read) const {
    try {
        read();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::data) train::match_vertices(plan_, flags_.data, dataset_options(flags_, plan_));
        throw;
    }
}

void Session::open_data() {
    train::usable_candidates(plan_, options_);  // cheaper than reading the data to find out
    const double start = clock_.now();
    kernels::set_threads(options_.threads);  // ranks as threads of this process set their own
    read_data([&] { dataset_.emplace(data::open_dataset(flags_.data, dataset_options(flags_, plan_))); });
    if (speaks_ && !flags_.quiet && !dataset_->in_shares()) {
        say("{}: {}\n", flags_.data, dataset_->report().describe());
        for (const std::string& remark : dataset_->report().remarks) say("note: {}\n", remark);
    }
    train::match_data(plan_, *dataset_);
    if (const auto note = dropout_note(plan_, flags_, options_); note && speaks_ && !flags_.quiet) {
        say("{}\n", *note);
    }
    options_.load_seconds = clock_.now() - start;
}

void Session::take_start() {
    start_.take(plan_);
    options_.weights = start_.weights();
    const io::Checkpoint* checkpoint = start_.checkpoint();
    if (checkpoint == nullptr) return;
    if (checkpoint->state.epoch > options_.epochs) {
        throw Error(ErrorCode::usage,
                    fmt::format("the checkpoint is of epoch {}, and {} are asked for", checkpoint->state.epoch,
                                options_.epochs),
                    start_.path(), "ask for more with --epochs, or name an earlier checkpoint");
    }
    options_.start = &checkpoint->state;
}

void Session::compare_start() const {
    if ((options_.keep_best || options_.patience) && dataset_->labelled(data::valid) == 0) {
        const std::int64_t unlabelled = dataset_->subset_size(data::valid);
        throw Error(ErrorCode::mismatch,
                    unlabelled == 0
                        ? "the split has no validation vertices to judge by"
                        : fmt::format("none of the {} validation vertices has a label to judge by", unlabelled),
                    options_.keep_best ? "--keep-best" : "--patience");
    }
    const std::vector<std::string> differing = start_.compare(facts_of_training_and_data());
    if (!speaks_ || flags_.quiet) return;
    for (const std::string& text : differing) say("note: {}\n", text);
    if (options_.start != nullptr && !is_finished())
        say("{}: going on after epoch {}\n", start_.path(), options_.start->epoch);
}

std::vector<Fact> Session::facts_of_training_and_data() const {
    std::vector<Fact> facts = facts_of_model(plan_.problem);
    for (Fact& fact : facts_of_training(flags_, options_)) facts.push_back(std::move(fact));
    for (Fact& fact : facts_of_data()) facts.push_back(std::move(fact));
    if (!features_.empty()) facts.push_back({"the features", features_});
    return facts;
}

Checkpoints Session::make_checkpoints() {
    io::Checkpoint form;
    form.tool_version = version();
    form.command_line = command_line(flags_.arguments);
    for (Fact& fact : facts_of_training_and_data())
        form.facts.emplace_back(std::move(fact.name), std::move(fact.value));
    return {{checkpoint_folder(flags_), saves_regularly(flags_), flags_.checkpoint_every},
            std::move(form),
            start_.earlier_in(checkpoint_folder(flags_)),
            folder_lock_,
            clock_};
}

// The last weights, or the best ones where these are kept.
void Session::keep_weights(const TrainingState& state) {
    const bool best = options_.keep_best && train::holds_best(state.tensors);
    const std::string wanted = best ? std::string(train::best_prefix) + "layers." : "layers.";
    for (const NamedTensor& tensor : state.tensors) {
        if (!tensor.name.starts_with(wanted)) continue;
        weights_.push_back({tensor.name.substr(tensor.name.find("layers.")), tensor.shape, tensor.values});
    }
}

// Another epoch and a checkpoint have to fit in what is left of --time-limit.
std::optional<std::string> Session::reason_to_stop() {
    if (auto signal = interruption()) return signal;
    if (infers()) return std::nullopt;
    trained_at_ = clock_.now();
    const double needed = trained_at_ - began_ + 2 * longest_epoch_;
    if (!flags_.time_limit || needed < static_cast<double>(*flags_.time_limit)) return std::nullopt;
    return fmt::format("the time limit of {} s is near", *flags_.time_limit);
}

void Session::check_features(comm::Communicator& processes) {
    if (dataset_->report().features_generated) return;
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
    comm::agree(processes, [&] { train::match_features(plan_, *dataset_, sum); });
}

void Session::open_outputs(comm::Communicator& processes) {
    if (flags_.dry_run) return;
    // Folders may look otherwise to other ranks.
    const bool folder = processes.rank() == 0 && flags_.save_embeddings && is_folder(*flags_.save_embeddings);
    embeddings_in_folder_ = comm::control_max(processes, folder ? 1 : 0) > 0;
    if (flags_.save_embeddings) {
        const std::string& path = *flags_.save_embeddings;
        check_shared(processes, "--save-embeddings " + path, embeddings_in_folder_ ? index_of_parts(path) : path);
    }
    if (!layers_) return;
    check_shared(processes, "--save-layers " + layers_->path, layers_->index());
    int done = 0;
    comm::agree(processes, [&] {
        if (processes.rank() != 0) return;
        done =
            tools::open_layers(*layers_, facts_of_layers(flags_, options_, plan_, dataset_->fingerprint(), features_));
    });
    options_.layers_done = static_cast<int>(comm::control_max(processes, done));
    if (options_.layers_done > 0 && speaks_ && !flags_.quiet)
        say("{}: going on after layer {}\n", layers_->path, options_.layers_done);
}

void Session::check_memory(int ranks_here) const {
    if (flags_.dry_run || !backend_.host_memory) return;
    tools::check_memory(plan_, train::usable_candidates(plan_, options_).front(), ranks_here);
}

void Session::check_memory_of_threads(bool loaded) const {
    if (flags_.dry_run || !backend_.host_memory) return;
    tools::check_memory_of_threads(plan_, train::usable_candidates(plan_, options_).front(),
                                   loaded ? &*dataset_ : nullptr);
}

void Session::show_dry_run() const {
    if (!speaks_) return;
    const TensorMemory memory = kernels::tensor_memory(flags_.backend);
    print(flags_.json ? dry_run_json(plan_, *dataset_, options_, memory)
                      : dry_run_text(plan_, *dataset_, options_, memory, use_color(flags_.color)));
}

train::TrainOptions Session::options_of_rank(int local_rank) const {
    train::TrainOptions options = options_;
    options.device = [this, local_rank] { return backend_.open(local_rank); };
    if (!backend_.host_memory) options.communicator = comm::through_hosts;
    return options;
}

void Session::remember(comm::Communicator& comm, std::string path, std::int64_t bytes) {
    if (comm.rank() == 0) written_.push_back({std::move(path), bytes});
}

void Session::remember(comm::Communicator& comm, const NotFiniteError& error, int layer) {
    if (comm.rank() != 0) return;
    not_finite_ = error;
    not_finite_->found.layer = layer;
}

// All ranks write the embeddings, and rank 0 remembers the file.
void Session::write_embeddings_with(train::TrainHooks& hooks, comm::Communicator& comm, bool one_process) {
    if (!flags_.save_embeddings) return;
    hooks.outputs = [=, this, &comm](const exec::Executor& executor, const train::OutputRows& rows) {
        begin_writing(comm);
        const VertexMatrix outputs{executor, train::outputs_of(executor.schedule()), rows, one_process};
        const std::string& path = *flags_.save_embeddings;
        try {
            if (embeddings_in_folder_) {
                remember(comm, path, write_vertex_parts(comm, outputs, path));
            } else {
                write_vertex_matrix(comm, outputs, path);
                remember(comm, path, vertex_matrix_bytes(outputs.tensor.rows, outputs.tensor.columns));
            }
        } catch (const NotFiniteError& error) {
            remember(comm, error, static_cast<int>(plan_.problem.model.widths.size()) - 1);
        } catch (const comm::AgreedError& failure) {
            if (comm.rank() == 0) embeddings_failure_ = failure;
        }
    };
}

void Session::write_layers_with(train::TrainHooks& hooks, comm::Communicator& comm, bool one_process) {
    if (!layers_) return;
    hooks.layer = [=, this, &comm](int layer, const exec::Executor& executor, TensorId tensor,
                                   const train::OutputRows& rows) {
        begin_writing(comm);
        const VertexMatrix outputs{executor, tensor_of(executor.schedule(), tensor), rows, one_process};
        const std::string path = layers_->file(layer);
        try {
            write_vertex_matrix(comm, outputs, path,
                                [&](const std::string& hash) { note_layer(*layers_, layer, hash); });
        } catch (const NotFiniteError& error) {
            remember(comm, error, layer);
            throw train::EndOfPass{Ending::diverged, fmt::format("the outputs of layer {} are not finite", layer)};
        }
        remember(comm, path, vertex_matrix_bytes(outputs.tensor.rows, outputs.tensor.columns));
    };
    hooks.read_layer = [this, &comm](exec::Executor& executor, TensorId tensor, const train::OutputRows& rows) {
        const int layer = options_.layers_done;
        const std::string hash = read_vertex_matrix(comm, executor, tensor, rows, layers_->file(layer));
        comm::agree(comm, [&] {
            if (comm.rank() == 0) check_layer(*layers_, layer, hash);
        });
    };
}

void Session::run(comm::Communicator& comm, bool shared, int local_rank, Watchdog* watchdog) {
    measure::SteadyClock clock;
    const bool first = comm.rank() == 0;
    comm::Heartbeat* const heartbeat = comm.heartbeats()[static_cast<std::size_t>(comm.rank())];
    heartbeat->belongs_to_caller();
    heartbeat->enter(comm::Heartbeat::loading);
    // The watchdog is local, so that an error ends it before the communicator, whose heartbeats it reads.
    std::unique_ptr<Watchdog> of_threads;
    if (shared && first) {
        std::vector<int> all(static_cast<std::size_t>(comm.size()));
        std::iota(all.begin(), all.end(), 0);
        of_threads = watch(flags_.timeout, comm.heartbeats(), std::move(all));
        watchdog = of_threads.get();
    }
    Progress progress(options_.epochs, flags_.quiet || !first, clock);
    const place::Placement placement = place_threads(comm, flags_, options_.threads, progress);
    if (!backend_.host_memory && flags_.verbose) progress.say("computing on " + backend_.device_name(local_rank));
    const auto& calibration = plan_.machine.calibration;
    if (calibration && calibration->threads.value_or(options_.threads) != options_.threads) {
        progress.say(fmt::format("the plan's times were measured with {} thread(s) a rank, this run has {} (--threads)",
                                 *calibration->threads, options_.threads));
    }
    if (calibration && comm.size() > 1 && calibration->processes.value_or(!shared) == shared) {
        progress.say(fmt::format(
            "the plan's times were measured with ranks that are {}, these are {}: messages take other times",
            shared ? "processes (mpirun)" : "threads of one process",
            shared ? "threads of one process" : "processes (mpirun)"));
    }
    if (infers() && first && options_.weights == nullptr)
        progress.say("note: without --load-weights the pass is made with weights that nobody trained");
    train::TrainHooks hooks;
    hooks.note = [&](const std::string& text) { progress.say(text); };
    if (first) {
        metrics_ = std::make_unique<Metrics>(flags_.metrics);
        if (options_.start != nullptr) metrics_->repeat(options_.start->epochs);
        checkpoints_.emplace(make_checkpoints());
        hooks.epoch_end = [&](const train::EpochEnd& end) {
            checkpoints_->offer(end);
            if (end.last && flags_.save_weights && end.ending != Ending::diverged) keep_weights(end.state());
        };
    }
    hooks.epoch = [&](const EpochRecord& epoch) {
        progress.show(epoch);
        if (!first) return;
        longest_epoch_ = std::max(longest_epoch_, epoch.seconds + clock_.now() - trained_at_);
        metrics_->add(epoch);
    };
    write_embeddings_with(hooks, comm, shared || comm.size() == 1);
    write_layers_with(hooks, comm, shared || comm.size() == 1);
    if (first || !shared) {
        constexpr const char* epoch = "finishing the epoch; a second signal ends the run at once\n";
        constexpr const char* step = "finishing the step; a second signal ends the run at once\n";
        catch_interruptions(!first || flags_.quiet ? nullptr : infers() ? step : epoch);
        hooks.stop = [&] { return reason_to_stop(); };
    }
    std::optional<TraceRecorder> recorder;
    if (flags_.trace && !is_finished()) recorder.emplace(clock, comm.size());
    hooks.step = [&](std::int64_t epoch, const Step& step, const exec::Executor& executor) {
        if (recorder) recorder->step(epoch, step, executor);
        heartbeat->beat(epoch, static_cast<std::int32_t>(&step - executor.schedule().steps.data()));
    };
    hooks.candidate = [&](int candidate) {
        if (recorder) recorder->restart();
        heartbeat->enter(comm::Heartbeat::building);
        if (watchdog) watchdog->steps_of(plan_.candidates[static_cast<std::size_t>(candidate)].schedule);
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
    const auto carry_out = infers() ? infer::infer : train::train;
    RunReport report = carry_out(comm, plan_, *dataset_, options_of_rank(local_rank), hooks, looked_at);
    heartbeat->enter(comm::Heartbeat::finishing);
    comm.barrier();  // what is seen belongs to the communicator, and others may still look
    of_threads.reset();
    report.placement = placement.note;
    report.oversubscribed = placement.warning;
    if (recorder && infers() && report.ending) {
        progress.say("note: the pass was not made to its end, so there is no trace");
    } else if (recorder) {
        const std::vector<measure::Timeline> ranks = recorder->gather(comm);
        if (first) trace_ = make_trace(plan_, report, ranks);
    }
    if (!first) return;
    report_ = std::move(report);
    if (is_finished()) take_finished();
}

void Session::take_finished() {
    if (!speaks_) return;
    const TrainingState& end = *options_.start;
    report_ = train::report_of_finished(plan_, options_, *dataset_);
    metrics_ = std::make_unique<Metrics>(flags_.metrics);
    metrics_->repeat(end.epochs);
    checkpoints_.emplace(make_checkpoints());
    keep_weights(end);
    if (flags_.quiet) return;
    const bool out_of_patience = report_->ending == Ending::patience;
    say("{}: {}: nothing is left to train (for more: {})\n", start_.path(),
        out_of_patience ? *report_->ended : fmt::format("all {} epochs are done", end.epoch),
        out_of_patience ? "a larger --patience" : "--epochs");
    if (flags_.trace) say("note: nothing was trained, so there is no trace\n");
    if (flags_.save_weights && options_.keep_best && !train::holds_best(end.tensors))
        say("note: the checkpoint is of a run without --keep-best: the last weights are written\n");
}

std::string Session::hint_of_divergence() const {
    if (infers()) {
        return fmt::format("look for what is too large for sums in fp32: {}the features, the weights of {}",
                           plan_.problem.graph.edge_weights ? "the weights of edges, " : "",
                           flags_.load_weights.value_or("the model"));
    }
    std::string hint = flags_.feature_norm == "row" ? "lower --lr" : "lower --lr, or use --feature-norm row";
    if (flags_.load_weights) hint += fmt::format("; it began with the weights of {}", *flags_.load_weights);
    return hint;
}

void Session::say_how_to_go_on(int processes) const {
    if (infers() && !layers_) {
        say("nothing was saved: with --save-layers DIR a pass goes on where it ended\n");
    } else if (infers()) {
        say("resume with: {}\n", resuming_command(flags_, processes, layers_->path, true));
    } else if (checkpoints_->newest()) {
        say("resume with: {}\n", resuming_command(flags_, processes, checkpoints_->newest()->path, false));
    }
}

int Session::finish(const std::string& communicator, int processes) {
    if (!speaks_) return 0;
    checkpoints_->finish();
    if (checkpoints_->totals().written + checkpoints_->totals().failed > 0)
        report_->checkpoints = checkpoints_->totals();
    report_->tool_version = version();
    report_->command_line = command_line(flags_.arguments);
    if (!infers()) report_->settings = run_settings(flags_, plan_, options_);
    report_->backend = flags_.backend;
    report_->communicator = communicator;
    report_->written = written_;
    if (not_finite_) report_->not_finite = not_finite_->found;
    if (trace_) {
        trace_->tool_version = report_->tool_version;
        trace_->command_line = report_->command_line;
    }
    io::WeightFacts weight_facts;
    for (Fact& fact : facts_of_model(plan_.problem))
        weight_facts.emplace_back(std::move(fact.name), std::move(fact.value));
    weight_facts.emplace_back("--feature-norm", flags_.feature_norm);
    const bool written = write_artifacts(
        flags_, {*report_, trace_, weights_, weight_facts, *metrics_, *checkpoints_, embeddings_failure_});
    print(flags_.json ? io::write_report(*report_) : summary(*report_, plan_.machine, use_color(flags_.color)));
    if (const auto mismatch = train::byte_mismatch(*report_); mismatch && !report_->steps.empty()) {
        throw Error(ErrorCode::internal, "the bytes counted are not the bytes predicted, which is a bug: " + *mismatch);
    }
    if (report_->ending == Ending::interrupted) say_how_to_go_on(processes);
    if (not_finite_) throw Error(not_finite_->code(), not_finite_->what(), {}, hint_of_divergence());
    if (report_->ending == Ending::diverged) {
        throw Error(ErrorCode::answer_no, *report_->ended, fmt::format("epoch {}", report_->epochs.back().epoch),
                    hint_of_divergence());
    }
    if (!written) return static_cast<int>(ErrorCode::io);
    return report_->ending == Ending::interrupted ? static_cast<int>(ErrorCode::interrupted) : 0;
}

}  // namespace gnnplan::tools
