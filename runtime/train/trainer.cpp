// Reading guide: run() is the whole of training: candidates of the plan take turns while the tuner wants them, and the
// one that it chooses trains the rest. Setting a candidate up and running it is in runtime/deploy.
#include "runtime/deploy/deployment.hpp"
#include "runtime/deploy/device_room.hpp"
#include "runtime/deploy/fitting.hpp"
#include "runtime/deploy/match.hpp"
#include "runtime/deploy/model_values.hpp"
#include "runtime/train/course.hpp"
#include "runtime/train/finished.hpp"
#include "runtime/train/train.hpp"
#include "runtime/train/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace gnnplan::train {
namespace {

deploy::Use use_of(const TrainOptions& options, const data::Dataset& dataset, const TrainHooks& hooks) {
    exec::PassSettings passes;
    passes.seed = options.seed;
    passes.dropout = static_cast<float>(options.dropout);
    passes.input_dropout = static_cast<float>(options.features_dropout());
    passes.attention_dropout = static_cast<float>(options.attention_dropout);
    const std::int64_t vertices = dataset.subset_size(data::train);
    passes.inverse_training_count = vertices > 0 ? 1.0 / static_cast<double>(vertices) : 0;
    passes.update.learning_rate = static_cast<float>(options.learning_rate);
    passes.update.weight_decay = static_cast<float>(options.weight_decay);
    passes.update.momentum = static_cast<float>(options.momentum);
    passes.decay_all = options.decay_all;
    const bool resumes = options.start != nullptr;
    return {passes, resumes ? &options.start->tensors : options.weights, resumes,
            hooks.outputs ? deploy::Written::outputs : deploy::Written::nothing};
}

class Trainer {
public:
    Trainer(comm::Communicator& hosts, comm::Communicator& comm, kernels::Device& device, const Plan& plan,
            const data::Dataset& dataset, const TrainOptions& options, const TrainHooks& hooks, measure::Clock& clock)
        : hosts_(hosts),
          comm_(comm),
          device_(device),
          plan_(plan),
          dataset_(dataset),
          options_(options),
          hooks_(hooks),
          clock_(clock),
          deployment_(hosts, comm, device, plan, dataset, options, hooks, clock, use_of(options, dataset, hooks)),
          course_(options, comm.rank() == 0) {}

    RunReport run();
    // Nothing is left to train: only the outputs are made.
    RunReport hand_out();
    bool is_over() const { return course_.is_over(); }

private:
    Tuning prepare();
    void build(int index, bool last);
    void note_choice(int index, const Autotuner& tuner) const;
    EpochRecord train_epoch(std::int64_t epoch);
    void check_weights();
    bool evaluation_due(std::int64_t epoch) const;
    void evaluate(std::int64_t epoch, EpochRecord& record);
    void finish_epoch(const EpochRecord& record, const TuningLog& log);
    void take_best_weights();
    void save_outputs();
    void finish_report(const Autotuner& tuner, int built);
    void note(const std::string& text) const {
        if (hooks_.note) hooks_.note(text);
    }

    comm::Communicator& hosts_;
    comm::Communicator& comm_;
    kernels::Device& device_;
    const Plan& plan_;
    const data::Dataset& dataset_;
    const TrainOptions& options_;
    const TrainHooks& hooks_;
    measure::Clock& clock_;

    deploy::Deployment deployment_;
    std::int64_t eval_every_ = 1;
    Course course_;
    std::int64_t epochs_since_build_ = 0;
    WallTimes wall_;
    RunReport report_;
};

void Trainer::build(int index, bool last) {
    deployment_.build(index, last);
    epochs_since_build_ = 0;
}

void Trainer::note_choice(int index, const Autotuner& tuner) const {
    const std::string name = "candidate " + std::to_string(index + 1);
    if (tuner.tried().size() > 1) {
        note(name + " trains from here on");
    } else if (tuner.too_dear()) {
        note("keeping " + name +
             ": the run is too short to recover the cost of trying another one (`autotune 3` tries all)");
    }
}

EpochRecord Trainer::train_epoch(std::int64_t epoch) {
    const double start = clock_.now();
    const auto samples = deployment_.run(Phase::epoch, epoch, true);
    EpochRecord record;
    record.epoch = epoch;
    const std::optional<std::string> stop = hooks_.stop ? hooks_.stop() : std::nullopt;
    const std::vector<double> agreed = comm::control_max(comm_, {clock_.now() - start, stop ? 1.0 : 0.0});
    record.seconds = agreed[0];
    wall_.training_seconds += record.seconds;
    if (agreed[1] > 0 && epoch < options_.epochs) {
        course_.end(Ending::interrupted, stop.value_or("another rank was told to stop"));
    }
    record.loss = deployment_.executor().loss_sum() / static_cast<double>(dataset_.subset_size(data::train));
    // Summed over the ranks, so the same bits on all of them.
    if (!std::isfinite(record.loss)) course_.end(Ending::diverged, "the loss is no longer finite");
    if (course_.is_last(epoch)) check_weights();
    // The first epoch after a build warms up caches.
    deploy::Measurements& measured = deployment_.measured();
    if (++epochs_since_build_ == 2) {
        measured.steady_seconds.clear();
        measured.epoch.restart_times();
    }
    measured.epoch.add(samples);
    measured.steady_seconds.push_back(record.seconds);
    return record;
}

// The loss is that of the weights before the update, so nothing else would tell what the last one did.
void Trainer::check_weights() {
    if (course_.ending() == Ending::diverged) return;
    const bool finite = deploy::all_finite(deploy::values_of(deployment_.state(), false));
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
    deployment_.measured().evaluation.add(deployment_.run(Phase::evaluation, epoch, false));
    wall_.evaluation_seconds += clock_.now() - start;
    ++wall_.evaluations;
    const auto share = [&](data::Subset subset) -> std::optional<double> {
        const std::int64_t judged = dataset_.labelled(subset);
        if (judged == 0) return std::nullopt;
        return deployment_.executor().correct()[subset] / static_cast<double>(judged);
    };
    record.train_accuracy = share(data::train);
    record.valid_accuracy = share(data::valid);
    record.test_accuracy = share(data::test);
}

void Trainer::finish_epoch(const EpochRecord& record, const TuningLog& log) {
    course_.add(record, deployment_.state());
    if (course_.ending() == Ending::patience) check_weights();  // only now is it known that this epoch is the last
    if (hooks_.epoch) hooks_.epoch(record);
    if (!hooks_.epoch_end) return;
    hooks_.epoch_end({record.epoch, course_.is_last(record.epoch), course_.ending(),
                      [&] { return course_.state(deployment_.state(), log); }});
}

// Everything that can be found wrong before the first executor is built.
Tuning Trainer::prepare() {
    std::optional<Tuning> tuning;
    const std::optional<deploy::DeviceRoom> room = deploy::device_room(comm_, device_);
    comm::agree(comm_, [&] {
        deployment_.take_graph();
        tuning = begin_tuning(plan_, options_, dataset_, static_cast<bool>(hooks_.data.cache_features),
                              device_.memory(), room);
    });
    for (const std::string& text : tuning->notes) note(text);
    eval_every_ = tuning->eval_every;
    return std::move(*tuning);
}

RunReport Trainer::run() {
    const double begin = clock_.now();
    kernels::set_threads(options_.threads);
    Tuning tuning = prepare();
    Autotuner& tuner = tuning.tuner;
    if (tuning.feature_bytes > 0) deployment_.cache_features(tuning.feature_bytes);
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
            const std::vector<double> slowest =
                comm::control_max(comm_, {clock_.now() - start, deployment_.cut_seconds()});
            wall_.setup_seconds += slowest[0];
            tuner.built(slowest[0], slowest[1]);
            tuning.log.built.push_back({epoch, slowest[0], slowest[1]});
            built = next;
        } else if (last && !settled) {  // it won, and stays as it is
            note_choice(next, tuner);
            deployment_.settle();
        }
        settled = last;
        EpochRecord record = train_epoch(epoch);
        tuner.record(record.seconds);
        if (evaluation_due(epoch)) evaluate(epoch, record);
        finish_epoch(record, tuning.log);
        last_epoch = course_.is_last(epoch);
    }
    if (hooks_.outputs) save_outputs();
    wall_.load_seconds = options_.load_seconds;
    wall_.total_seconds = options_.load_seconds + clock_.now() - begin;
    finish_report(tuner, built);
    return std::move(report_);
}

RunReport Trainer::hand_out() {
    kernels::set_threads(options_.threads);
    const std::optional<deploy::DeviceRoom> room = deploy::device_room(comm_, device_);
    int candidate = 0;
    comm::agree(comm_, [&] {
        if (!hooks_.outputs) {
            throw Error(ErrorCode::usage, "nothing is left to train after epoch " +
                                              std::to_string(course_.next_epoch() - 1) + " of " +
                                              std::to_string(options_.epochs));
        }
        deployment_.take_graph();
        const std::vector<int> usable = deploy::usable_candidates(plan_, options_.features_dropout(), &dataset_);
        candidate = deploy::candidates_that_fit(plan_, usable, dataset_, device_.memory(), room).front();
    });
    deployment_.build(candidate, true);
    save_outputs();
    return report_of_finished(plan_, options_, dataset_);
}

// One rank keeps the best weights for all, and gives them to the others, which have the last ones.
void Trainer::take_best_weights() {
    std::vector<NamedTensor> values;
    comm::agree(comm_, [&] {
        const std::vector<NamedTensor>& best = course_.best_weights();
        if (!best.empty()) deploy::set_values(deployment_.state(), best, false);
        values = deploy::values_of(deployment_.state(), false);
    });
    for (NamedTensor& value : values) hosts_.broadcast(0, std::as_writable_bytes(std::span(value.values)));
    comm::agree(comm_, [&] { deploy::set_values(deployment_.state(), values, false); });
}

// The outputs are those of the weights that a run leaves behind: the best ones where they are kept.
void Trainer::save_outputs() {
    if (course_.ending() == Ending::diverged || course_.ending() == Ending::interrupted) return;
    if (options_.keep_best) take_best_weights();
    deployment_.run(Phase::evaluation, course_.next_epoch() - 1, false, deploy::Watched::no);
    hooks_.outputs(deployment_.executor(), deployment_.output_rows());
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
    report_.fingerprints.graph = deployment_.fingerprint();
    deployment_.report(report_);
}

}  // namespace

RunReport train(comm::Communicator& comm, const Plan& plan, const data::Dataset& dataset, const TrainOptions& options,
                const TrainHooks& hooks, measure::Clock& clock) {
    std::unique_ptr<kernels::Device> device;
    comm::agree(comm, [&] { device = options.device(); });
    const auto of_device = options.communicator ? options.communicator(comm, *device) : nullptr;
    Trainer trainer(comm, of_device ? *of_device : comm, *device, plan, dataset, options, hooks, clock);
    return trainer.is_over() ? trainer.hand_out() : trainer.run();
}

}  // namespace gnnplan::train
