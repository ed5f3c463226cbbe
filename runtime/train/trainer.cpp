// Reading guide: run() is the whole of training. build() makes an executor for a candidate: while candidates are still
// tried the graph stays loaded for the next one, and all features, where there is room; the candidate that trains the
// rest is built last, always anew, so that its memory is what was predicted for it. The model's state outlives
// executors, and so do sparse blocks that the next one would cut alike.
#include "runtime/train/course.hpp"
#include "runtime/train/footprint.hpp"
#include "runtime/train/match.hpp"
#include "runtime/train/model_values.hpp"
#include "runtime/train/outputs.hpp"
#include "runtime/train/report.hpp"
#include "runtime/train/train.hpp"
#include "runtime/train/trials.hpp"
#include "runtime/train/tuning.hpp"

#include <gnnplan/base/checked.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace gnnplan::train {
namespace {

// What the loaded graph holds, which is what the memory plan predicts for loading. Buffers of reading and parsing, such
// as the edge list, are gone by then and are outside that equality, although they may need more.
std::int64_t graph_bytes(const data::Graph& graph, const data::DegreeScales& scales) {
    std::int64_t bytes = 0;
    for (const data::Csr* csr : {&graph.out, &graph.in}) {
        bytes +=
            static_cast<std::int64_t>(csr->row_start.size() * sizeof(std::int64_t) +
                                      csr->column.size() * sizeof(std::int32_t) + csr->weight.size() * sizeof(float));
    }
    return bytes + static_cast<std::int64_t>((scales.source.size() + scales.target.size()) * sizeof(double));
}

class Trainer {
public:
    Trainer(comm::Communicator& comm, kernels::Device& device, const Plan& plan, const data::Dataset& dataset,
            const TrainOptions& options, const TrainHooks& hooks, measure::Clock& clock)
        : comm_(comm),
          device_(device),
          plan_(plan),
          dataset_(dataset),
          options_(options),
          hooks_(hooks),
          clock_(clock),
          tracker_(device.memory().accelerator),
          course_(options, comm.rank() == 0) {}

    RunReport run();

private:
    const Candidate& candidate(int index) const { return plan_.candidates[static_cast<std::size_t>(index)]; }
    Tuning prepare();
    void cache_features();
    void build(int index, bool last);
    void make_executor(const Schedule& schedule, const LoadState& loaded, std::optional<exec::SparseBlocks> blocks);
    void release_graph();
    void release_features();
    void note_choice(int index, const Autotuner& tuner) const;
    void load_model(const Candidate& candidate);
    EpochRecord train_epoch(std::int64_t epoch);
    void check_weights();
    bool evaluation_due(std::int64_t epoch) const;
    void evaluate(std::int64_t epoch, EpochRecord& record);
    void finish_epoch(const EpochRecord& record, const TuningLog& log);
    void keep_tuning_peak();
    void save_outputs(const TuningLog& log);
    void finish_report(const Autotuner& tuner, int built);
    exec::PassSettings settings(std::int64_t epoch, bool training) const;
    exec::Executor::Observer observer(std::int64_t epoch) const;
    void note(const std::string& text) const {
        if (hooks_.note) hooks_.note(text);
    }

    comm::Communicator& comm_;
    kernels::Device& device_;
    const Plan& plan_;
    const data::Dataset& dataset_;
    const TrainOptions& options_;
    const TrainHooks& hooks_;
    measure::Clock& clock_;

    exec::MemoryTracker tracker_;
    data::DegreeScales scales_;
    exec::Charge loaded_;                    // the graph and its scales, while they live
    std::int64_t cached_feature_bytes_ = 0;  // 0: not worth it, or no room
    std::int64_t eval_every_ = 1;
    Course course_;
    exec::Charge cached_features_;
    std::unique_ptr<exec::ModelState> state_;
    std::unique_ptr<exec::Executor> executor_;
    OutputRows output_rows_;
    std::optional<TuningPeak> tuning_peak_;
    double cut_seconds_ = 0;  // of the executor built last, for its sparse blocks
    std::int64_t epochs_since_build_ = 0;
    Measurements measured_;
    WallTimes wall_;
    RunReport report_;
};

void Trainer::cache_features() {
    const double start = clock_.now();
    comm::agree(comm_, hooks_.cache_features);
    cached_features_ = exec::Charge(tracker_, cached_feature_bytes_, exec::Holder::host);
    measured_.initialise_seconds += clock_.now() - start;
}

void Trainer::build(int index, bool last) {
    if (hooks_.candidate) hooks_.candidate(index);
    const Candidate& next = candidate(index);
    std::optional<exec::SparseBlocks> blocks;
    if (executor_ && exec::same_blocks(executor_->schedule(), next.schedule)) blocks = executor_->release_blocks();
    executor_.reset();
    output_rows_ = {};
    keep_tuning_peak();
    if (last) cached_features_.reset();  // one more buffer of reading from here on
    tracker_.restart();

    const double start = clock_.now();
    report_.predicted = next.predicted;
    const bool adopts_blocks = blocks.has_value();
    make_executor(next.schedule,
                  {.state_lives = state_ != nullptr,
                   .graph_stays = !last,
                   .cached_feature_bytes = last ? 0 : cached_feature_bytes_,
                   .adopts_blocks = adopts_blocks,
                   .writes_outputs = static_cast<bool>(hooks_.outputs)},
                  std::move(blocks));
    const double cut = clock_.now();
    if (last) release_graph();
    load_model(next);
    if (last) release_features();
    if (!last) {
        if (!tuning_peak_) tuning_peak_.emplace();
        tuning_peak_->predicted_bytes = std::max(tuning_peak_->predicted_bytes, report_.predicted.peak_bytes_per_rank);
    }
    measured_.setup.add(executor_->run(Phase::setup, settings(0, true)));
    measured_.partition_seconds += cut - start;
    measured_.initialise_seconds += clock_.now() - cut;
    measured_.steady_seconds.clear();
    epochs_since_build_ = 0;
}

void Trainer::make_executor(const Schedule& schedule, const LoadState& loaded,
                            std::optional<exec::SparseBlocks> blocks) {
    comm::agree(comm_, [&] {
        const auto counts = counts_for(schedule, dataset_);
        const Footprint predicted = footprint(schedule, *counts, loaded, device_.memory());
        report_.predicted.peak_bytes_per_rank = predicted.tensors;
        report_.predicted.host_peak_bytes = predicted.host;
        const auto expected = [&](Phase phase) {
            return measure::StepLog(expected_bytes(schedule, phase, *counts, comm_.rank()));
        };
        measured_.setup = expected(Phase::setup);
        measured_.epoch = expected(Phase::epoch);
        measured_.evaluation = expected(Phase::evaluation);
        executor_ = std::make_unique<exec::Executor>(schedule, counts, comm_, device_, tracker_, clock_);
        const double start = clock_.now();
        if (blocks) {
            executor_->adopt_blocks(std::move(*blocks));
        } else {
            executor_->build_blocks(dataset_.graph(), scales_);
        }
        cut_seconds_ = clock_.now() - start;
        if (hooks_.outputs) output_rows_ = OutputRows(schedule, *counts, comm_.rank(), tracker_);
    });
}

void Trainer::release_graph() {
    scales_ = {};
    loaded_.reset();
    comm_.barrier();
    if (hooks_.release_graph) hooks_.release_graph();
}

void Trainer::release_features() {
    cached_features_.reset();
    comm_.barrier();
    if (hooks_.release_features) hooks_.release_features();
}

void Trainer::note_choice(int index, const Autotuner& tuner) const {
    const std::string name = "candidate " + std::to_string(index + 1);
    if (tuner.tried().size() > 1) {
        note(name + " trains from here on");
    } else if (tuner.too_dear()) {
        note("keeping " + name +
             ": the run is too short to recover the cost of trying another one (--autotune 3 tries all)");
    }
}

// The trials' memory has been in use up to here.
void Trainer::keep_tuning_peak() {
    if (tuning_peak_) tuning_peak_->measured_bytes = std::max(tuning_peak_->measured_bytes, tracker_.peak());
}

void Trainer::load_model(const Candidate& next) {
    comm::agree(comm_, [&] {
        if (!state_) {
            state_ = std::make_unique<exec::ModelState>(next.schedule, options_.seed, device_, tracker_);
            if (options_.start != nullptr) set_values(*state_, options_.start->tensors, true);
            if (options_.weights != nullptr) set_values(*state_, *options_.weights, false);
        }
        executor_->allocate(*state_);
        // Products that are timed overwrite their results, which may lie where features wait for the setup to read them.
        measured_.kernels = executor_->choose_kernels(options_.product_kernel);
        executor_->fill(dataset_);
    });
}

exec::PassSettings Trainer::settings(std::int64_t epoch, bool training) const {
    exec::PassSettings settings;
    settings.seed = options_.seed;
    settings.epoch = static_cast<std::uint32_t>(epoch);
    settings.training = training;
    settings.dropout = static_cast<float>(options_.dropout);
    settings.input_dropout = static_cast<float>(options_.features_dropout());
    settings.attention_dropout = static_cast<float>(options_.attention_dropout);
    settings.inverse_training_count = 1.0 / static_cast<double>(dataset_.subset_size(data::train));
    settings.update.learning_rate = static_cast<float>(options_.learning_rate);
    settings.update.weight_decay = static_cast<float>(options_.weight_decay);
    settings.update.momentum = static_cast<float>(options_.momentum);
    settings.decay_all = options_.decay_all;
    return settings;
}

exec::Executor::Observer Trainer::observer(std::int64_t epoch) const {
    if (!hooks_.step) return {};
    return [this, epoch](const Step& step, const exec::Executor& executor) { hooks_.step(epoch, step, executor); };
}

EpochRecord Trainer::train_epoch(std::int64_t epoch) {
    const double start = clock_.now();
    const auto samples = executor_->run(Phase::epoch, settings(epoch, true), observer(epoch));
    EpochRecord record;
    record.epoch = epoch;
    const std::optional<std::string> stop = hooks_.stop ? hooks_.stop() : std::nullopt;
    const std::vector<double> agreed = comm::control_max(comm_, {clock_.now() - start, stop ? 1.0 : 0.0});
    record.seconds = agreed[0];
    wall_.training_seconds += record.seconds;
    if (agreed[1] > 0 && epoch < options_.epochs) {
        course_.end(Ending::interrupted, stop.value_or("another rank was told to stop"));
    }
    record.loss = executor_->loss_sum() / static_cast<double>(dataset_.subset_size(data::train));
    // Summed over the ranks, so the same bits on all of them.
    if (!std::isfinite(record.loss)) course_.end(Ending::diverged, "the loss is no longer finite");
    if (course_.is_last(epoch)) check_weights();
    // The first epoch after a build warms up caches.
    if (++epochs_since_build_ == 2) {
        measured_.steady_seconds.clear();
        measured_.epoch.restart_times();
    }
    measured_.epoch.add(samples);
    measured_.steady_seconds.push_back(record.seconds);
    return record;
}

// The loss is that of the weights before the update, so nothing else would tell what the last one did.
void Trainer::check_weights() {
    if (course_.ending() == Ending::diverged) return;
    const bool finite = all_finite(values_of(*state_, false));
    if (comm::control_max(comm_, finite ? 0.0 : 1.0) > 0) {
        course_.end(Ending::diverged, "the last update made weights that are not finite");
    }
}

bool Trainer::evaluation_due(std::int64_t epoch) const {
    return eval_every_ > 0 && course_.ending() != Ending::diverged &&
           (epoch % eval_every_ == 0 || course_.is_last(epoch));
}

void Trainer::evaluate(std::int64_t epoch, EpochRecord& record) {
    const double start = clock_.now();
    measured_.evaluation.add(executor_->run(Phase::evaluation, settings(epoch, false), observer(epoch)));
    wall_.evaluation_seconds += clock_.now() - start;
    ++wall_.evaluations;
    const auto share = [&](data::Subset subset) -> std::optional<double> {
        const std::int64_t size = dataset_.subset_size(subset);
        if (size == 0) return std::nullopt;
        return executor_->correct()[subset] / static_cast<double>(size);
    };
    record.train_accuracy = share(data::train);
    record.valid_accuracy = share(data::valid);
    record.test_accuracy = share(data::test);
}

void Trainer::finish_epoch(const EpochRecord& record, const TuningLog& log) {
    course_.add(record, *state_);
    if (hooks_.epoch) hooks_.epoch(record);
    if (!hooks_.epoch_end) return;
    hooks_.epoch_end(
        {record.epoch, course_.is_last(record.epoch), course_.ending(), [&] { return course_.state(*state_, log); }});
}

// Everything that can be found wrong before the first executor is built.
Tuning Trainer::prepare() {
    std::optional<Tuning> tuning;
    const std::optional<DeviceRoom> room = device_room(comm_, device_);
    comm::agree(comm_, [&] {
        if (comm_.size() != plan_.problem.ranks) {
            throw Error(ErrorCode::mismatch, "the plan is for " + std::to_string(plan_.problem.ranks) +
                                                 " ranks, this run has " + std::to_string(comm_.size()));
        }
        if (course_.is_over()) {
            throw Error(ErrorCode::usage, "nothing is left to train after epoch " +
                                              std::to_string(course_.next_epoch() - 1) + " of " +
                                              std::to_string(options_.epochs));
        }
        for (const std::string& remark : match_data(plan_, dataset_)) note(remark);
        data::check_degrees(dataset_.graph(), plan_.problem.graph.normalisation, dataset_.report().path);
        scales_ = data::stored_scales(dataset_.graph(), plan_.problem.graph.normalisation);
        loaded_ = exec::Charge(tracker_, graph_bytes(dataset_.graph(), scales_), exec::Holder::host);
        tuning =
            begin_tuning(plan_, options_, dataset_, static_cast<bool>(hooks_.cache_features), device_.memory(), room);
    });
    for (const std::string& text : tuning->notes) note(text);
    cached_feature_bytes_ = tuning->feature_bytes;
    eval_every_ = tuning->eval_every;
    return std::move(*tuning);
}

RunReport Trainer::run() {
    const double begin = clock_.now();
    kernels::set_threads(options_.threads);
    Tuning tuning = prepare();
    Autotuner& tuner = tuning.tuner;
    if (cached_feature_bytes_ > 0) cache_features();
    wall_.setup_seconds = clock_.now() - begin;
    int built = -1;
    bool settled = false;  // the graph is gone, and the candidate trains to the end
    bool last_epoch = false;
    while (!last_epoch) {
        const std::int64_t epoch = course_.next_epoch();
        const int next = tuner.candidate();
        const bool last = !tuner.tuning();
        if (next != built) {
            const double start = clock_.now();
            build(next, last);
            if (last && built >= 0) note_choice(next, tuner);
            const std::vector<double> slowest = comm::control_max(comm_, {clock_.now() - start, cut_seconds_});
            wall_.setup_seconds += slowest[0];
            tuner.built(slowest[0], slowest[1]);
            tuning.log.built.push_back({epoch, slowest[0], slowest[1]});
            built = next;
        } else if (last && !settled) {  // it won, and stays as it is
            keep_tuning_peak();
            note_choice(next, tuner);
            release_graph();
            release_features();
        }
        settled = last;
        EpochRecord record = train_epoch(epoch);
        tuner.record(record.seconds);
        if (evaluation_due(epoch)) evaluate(epoch, record);
        finish_epoch(record, tuning.log);
        last_epoch = course_.is_last(epoch);
    }
    keep_tuning_peak();
    if (hooks_.outputs) save_outputs(tuning.log);
    wall_.load_seconds = options_.load_seconds;
    wall_.total_seconds = options_.load_seconds + clock_.now() - begin;
    finish_report(tuner, built);
    return std::move(report_);
}

// The outputs are those of the weights that a run leaves behind: the best ones where they are kept.
void Trainer::save_outputs(const TuningLog& log) {
    if (course_.ending() == Ending::diverged || course_.ending() == Ending::interrupted) return;
    comm::agree(comm_, [&] {
        const std::vector<NamedTensor> best = best_values(course_.state(*state_, log).tensors);
        if (options_.keep_best && !best.empty()) set_values(*state_, best, false);
    });
    executor_->run(Phase::evaluation, settings(course_.next_epoch() - 1, false));
    hooks_.outputs(*executor_, output_rows_);
}

void Trainer::finish_report(const Autotuner& tuner, int built) {
    course_.report(report_);
    report_.seed = options_.seed;
    report_.ranks = comm_.size();
    report_.threads = options_.threads;
    report_.tried = tuner.tried();
    report_.chosen = built;
    report_.eval_every = eval_every_;
    report_.wall = wall_;
    report_.fingerprints = plan_.fingerprints;
    report_.fingerprints.graph = dataset_.fingerprint();
    if (tuning_peak_) {
        tuning_peak_->measured_bytes =
            static_cast<std::int64_t>(comm::control_max(comm_, static_cast<double>(tuning_peak_->measured_bytes)));
        report_.tuning_peak = tuning_peak_;
    }
    measured_.load_seconds = options_.load_seconds;
    measured_.peak_bytes = tracker_.peak();
    measured_.host_peak_bytes = tracker_.host_peak();
    report_candidate(comm_, plan_, measured_, report_);
}

}  // namespace

RunReport train(comm::Communicator& comm, const Plan& plan, const data::Dataset& dataset, const TrainOptions& options,
                const TrainHooks& hooks, measure::Clock& clock) {
    std::unique_ptr<kernels::Device> device;
    comm::agree(comm, [&] { device = options.device(); });
    const auto of_device = options.communicator ? options.communicator(comm, *device) : nullptr;
    return Trainer(of_device ? *of_device : comm, *device, plan, dataset, options, hooks, clock).run();
}

}  // namespace gnnplan::train
