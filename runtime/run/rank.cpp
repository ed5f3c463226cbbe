// Reading guide: compute() is what a rank does from beginning to end; the hooks that it gives to training or inference
// are set by the functions hear_*, use_logits, write_layers and free_data.
#include "runtime/run/rank.hpp"

#include "runtime/infer/infer.hpp"
#include "runtime/place/place.hpp"
#include "runtime/run/devices.hpp"
#include "runtime/run/judge_logits.hpp"
#include "runtime/run/machine_state.hpp"
#include "runtime/run/trace.hpp"
#include "runtime/train/finished.hpp"
#include "runtime/train/train.hpp"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace gnnplan::run {
namespace {

class Rank {
public:
    Rank(const Shared& shared, comm::Communicator& comm, const Launch& launch)
        : shared_(shared),
          comm_(comm),
          launch_(launch),
          first_(comm.rank() == 0),
          heartbeat_(*comm.heartbeats()[static_cast<std::size_t>(comm.rank())]) {
        if (shared.settings.trace && !train::is_finished(shared.options)) recorder_.emplace(clock_, comm.size());
    }

    Computed compute();

private:
    place::Placement place_threads() const;
    void note_other_measurements() const;
    void hear_steps(deploy::RunHooks& hooks);
    void hear_epochs(train::TrainHooks& hooks) const;
    void use_logits(deploy::RunHooks& hooks);
    void write_layers(infer::InferHooks& hooks) const;
    void free_data(deploy::DataHooks& hooks) const;
    template <class Options>
    Options with_device(Options options);
    RunReport infer();
    RunReport train();
    std::optional<io::Trace> gather_trace(const RunReport& report);

    // Whether this is the first rank of its process.
    bool leads() const { return first_ || !launch_.threads; }
    bool one_process() const { return launch_.threads || comm_.size() == 1; }
    void note(const std::string& line) const {
        if (first_) shared_.observer.note(line);
    }
    void detail(const std::string& line) const {
        if (first_) shared_.observer.detail(line);
    }

    const Shared& shared_;
    comm::Communicator& comm_;
    Launch launch_;
    bool first_, computes_ = false;  // rank 0; what comes before the first candidate is done
    comm::Heartbeat& heartbeat_;
    measure::SteadyClock clock_;
    place::Placement placement_;
    std::optional<std::string> exchange_;  // between devices
    std::optional<TraceRecorder> recorder_;
    Judgement judgement_;
};

// Binds this rank's threads unless told not to.
place::Placement Rank::place_threads() const {
    if (!shared_.settings.binds_threads) return {{}, "threads are not bound: `bind off`"};
    place::Placement placement = place::bind_threads(comm_, shared_.options.threads);
    if (placement.warning) {
        note("warning: " + placement.note);
    } else {
        detail(placement.note);
    }
    return placement;
}

// Says where the machine that predicted times were measured on was used otherwise than this one is.
void Rank::note_other_measurements() const {
    const auto& calibration = shared_.plan.machine.calibration;
    if (!calibration) return;
    const int threads = shared_.options.threads;
    if (calibration->threads.value_or(threads) != threads)
        note(fmt::format("the plan's times were measured with {} thread(s) a rank, this run has {} (`threads`)",
                         *calibration->threads, threads));
    if (comm_.size() > 1 && calibration->processes.value_or(!launch_.threads) == launch_.threads) {
        note(fmt::format(
            "the plan's times were measured with ranks that are {}, these are {}: messages take other times",
            launch_.threads ? "processes (mpirun)" : "threads of one process",
            launch_.threads ? "threads of one process" : "processes (mpirun)"));
    }
}

void Rank::hear_steps(deploy::RunHooks& hooks) {
    hooks.note = [this](const std::string& text) { note(text); };
    if (recorder_) hooks.pass = [this](std::span<const measure::TimedStep> pass) { recorder_->add(pass); };
    hooks.candidate = [this](int candidate) {
        if (leads() && !std::exchange(computes_, true)) shared_.observer.computes();
        if (recorder_) recorder_->restart();
        heartbeat_.enter(comm::Heartbeat::building);
        const Schedule& schedule = shared_.plan.candidates[static_cast<std::size_t>(candidate)].schedule;
        if (launch_.watchdog != nullptr) launch_.watchdog->steps_of(schedule);
        detail(fmt::format("building candidate {}", candidate + 1));
    };
    if (!leads()) return;
    hooks.stop = [this]() -> std::optional<std::string> {
        if (std::optional<std::string> told = shared_.observer.stop()) return told;
        return shared_.infers() ? std::nullopt : shared_.limit.reached();
    };
}

void Rank::hear_epochs(train::TrainHooks& hooks) const {
    if (!first_) return;
    hooks.run = [this](int run, std::uint64_t seed) {
        shared_.observer.run(run, seed), shared_.files->begin_run(seed);
    };
    hooks.epoch = [this](const EpochRecord& epoch) {
        shared_.observer.epoch(epoch);
        shared_.limit.add(epoch);
        shared_.files->add(epoch);
    };
    hooks.epoch_end = [this](const train::EpochEnd& end) { shared_.files->add(end); };
}

// Logits are written, and an inference compares them with the labels where there are some.
void Rank::use_logits(deploy::RunHooks& hooks) {
    const bool writes = shared_.settings.save_logits.has_value();
    const bool judges = shared_.infers() && can_judge(shared_.dataset, shared_.plan.problem.model.widths.back());
    if (!writes && !judges) return;
    hooks.outputs = [this, writes, judges](const exec::Executor& executor, const deploy::OutputRows& rows) {
        const VertexMatrix logits{executor, deploy::outputs_of(executor.schedule()), rows, one_process()};
        if (writes) shared_.outputs.write_logits(comm_, logits);
        if (judges) judgement_ = judge_logits(comm_, logits, shared_.dataset);
    };
}

void Rank::write_layers(infer::InferHooks& hooks) const {
    if (!shared_.outputs.layers()) return;
    hooks.layer = [this](int layer, const exec::Executor& executor, TensorId tensor, const deploy::OutputRows& rows) {
        shared_.outputs.write_layer(comm_, layer, executor, tensor, rows, one_process());
    };
    hooks.read_layer = [this](exec::Executor& executor, TensorId tensor, const deploy::OutputRows& rows) {
        shared_.outputs.read_layer(comm_, executor, tensor, rows);
    };
}

void Rank::free_data(deploy::DataHooks& hooks) const {
    data::Dataset& dataset = shared_.dataset;
    if (!launch_.threads) hooks.cache_features = [&dataset] { dataset.cache_features(); };
    if (!leads()) return;
    hooks.release_graph = [&dataset] { dataset.release_graph(); };
    hooks.release_features = [&dataset] { dataset.release_features(); };
}

template <class Options>
Options Rank::with_device(Options options) {
    options.device = [this] { return shared_.backend.open(launch_.local_rank); };
    if (placement_.free_units > 0) options.work_beside = [this] { place::work_beside(placement_, comm_.rank()); };
    if (!shared_.backend.host_memory)
        options.communicator = [this](auto& hosts, auto& device) {
            return connect_devices(shared_, hosts, device, placement_, exchange_);
        };
    return options;
}

RunReport Rank::infer() {
    infer::InferHooks hooks;
    hear_steps(hooks);
    use_logits(hooks);
    write_layers(hooks);
    free_data(hooks.data);
    const infer::InferOptions options =
        with_device(infer::InferOptions{shared_.options, shared_.outputs.layers_done()});
    RunReport report = infer::infer(comm_, shared_.plan, shared_.dataset, options, hooks, clock_);
    report.judgement = judgement_;
    return report;
}

RunReport Rank::train() {
    train::TrainHooks hooks;
    hear_epochs(hooks);
    hear_steps(hooks);
    use_logits(hooks);
    free_data(hooks.data);
    return train::train(comm_, shared_.plan, shared_.dataset, with_device(shared_.options), hooks, clock_);
}

std::optional<io::Trace> Rank::gather_trace(const RunReport& report) {
    if (!recorder_) return std::nullopt;
    if (shared_.infers() && report.ending) {
        note("note: the pass was not made to its end, so there is no trace");
        return std::nullopt;
    }
    const std::vector<measure::Timeline> ranks = recorder_->gather(comm_);
    if (!first_) return std::nullopt;
    return make_trace(shared_.plan, report, ranks);
}

Computed Rank::compute() {
    heartbeat_.belongs_to_caller();
    heartbeat_.enter(comm::Heartbeat::loading);
    // The watchdog is local, so that an error ends it before the communicator, whose heartbeats it reads.
    std::unique_ptr<Watchdog> of_threads;
    if (launch_.threads && first_) {
        std::vector<int> all(static_cast<std::size_t>(comm_.size()));
        std::iota(all.begin(), all.end(), 0);
        of_threads = watch(shared_.settings.timeout_seconds, comm_.heartbeats(), std::move(all),
                           [this](const std::string& where) { shared_.observer.stuck(where); });
        launch_.watchdog = of_threads.get();
    }
    if (first_) shared_.observer.begins(shared_.options);
    placement_ = place_threads();
    name_devices(shared_, comm_, launch_.local_rank);
    note_other_measurements();
    if (shared_.infers() && shared_.options.weights == nullptr)
        note("note: without `load-weights` the pass is made with weights that nobody trained");
    if (launch_.threads) {
        // Threads would each read the whole file for their block of it, unless they read it in shares.
        if (first_ && !shared_.dataset.features_in_shares()) shared_.dataset.cache_features();
        comm_.barrier();
    }
    const std::optional<ProbeFigures> state = probe_state(shared_, comm_, launch_, clock_);
    if (state && first_) shared_.observer.probed(shared_.plan, *state);
    Computed computed{shared_.infers() ? infer() : train(), std::nullopt};
    computed.report.probe = state;
    computed.report.device_exchange = exchange_;
    heartbeat_.enter(comm::Heartbeat::finishing);
    comm_.barrier();  // what is seen belongs to the communicator, and others may still look
    of_threads.reset();
    computed.report.placement = shared_.observer.in_words(placement_.note);
    computed.report.oversubscribed = placement_.warning;
    computed.trace = gather_trace(computed.report);
    return computed;
}

}  // namespace

Computed compute(const Shared& shared, comm::Communicator& comm, const Launch& launch) {
    return Rank(shared, comm, launch).compute();
}

}  // namespace gnnplan::run
