// Reading guide: run() is the whole of training: candidates of the plan take turns while the tuner wants them, and the
// one that it chooses trains the rest. Setting a candidate up and running it is in runtime/deploy.
#include "runtime/deploy/deployment.hpp"
#include "runtime/deploy/device_room.hpp"
#include "runtime/deploy/fitting.hpp"
#include "runtime/deploy/match.hpp"
#include "runtime/deploy/model_values.hpp"
#include "runtime/train/course.hpp"
#include "runtime/train/epochs.hpp"
#include "runtime/train/finished.hpp"
#include "runtime/train/train.hpp"
#include "runtime/train/tuning.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace gnnplan::train {
namespace {

deploy::Use use_of(const Plan& plan, const TrainOptions& options, const data::Dataset& dataset, const TrainHooks& hooks,
                   std::uint64_t seed) {
    exec::PassSettings passes;
    passes.seed = seed;
    passes.dropout = static_cast<float>(options.dropout);
    passes.input_dropout = static_cast<float>(options.features_dropout());
    passes.attention_dropout = static_cast<float>(options.attention_dropout);
    const std::int64_t labels = dataset.known_labels(data::train) * plan.problem.losses_per_update();
    passes.inverse_training_count = labels > 0 ? 1.0 / static_cast<double>(labels) : 0;
    passes.update.learning_rate = static_cast<float>(options.learning_rate);
    passes.update.weight_decay = static_cast<float>(options.weight_decay);
    passes.update.momentum = static_cast<float>(options.momentum);
    passes.decay = options.decay;
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
          course_(options, comm.rank() == 0),
          deployment_(hosts, comm, device, plan, dataset, options, hooks, clock,
                      use_of(plan, options, dataset, hooks, course_.seed())),
          epochs_(comm, plan, dataset, options, hooks, clock, deployment_, course_, wall_) {}

    RunReport run();
    // Nothing is left to train: only the outputs are made.
    RunReport hand_out();
    bool is_over() const { return course_.is_over() && course_.is_last_run(); }

private:
    Tuning prepare();
    void build(int index, bool last);
    void train_one(Tuning& tuning);
    bool begin_next_run();
    void note_choice(int index, const Autotuner& tuner) const;
    void take_best_weights();
    void save_outputs();
    void finish_report(const Autotuner& tuner);
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

    Course course_;
    deploy::Deployment deployment_;
    std::int64_t eval_every_ = 1;
    WallTimes wall_;
    Epochs epochs_;
    RunReport report_;
    int built_ = -1;        // candidate
    bool settled_ = false;  // the graph is gone, and the candidate trains to the end
};

void Trainer::build(int index, bool last) {
    deployment_.build(index, last);
    epochs_.restart();
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

// Everything that can be found wrong before the first executor is built.
Tuning Trainer::prepare() {
    std::optional<Tuning> tuning;
    const std::optional<deploy::DeviceRoom> room = deploy::device_room(comm_, device_);
    comm::agree(comm_, [&] { deployment_.take_graph(); });
    deployment_.draw_pool();
    comm::agree(comm_, [&] {
        tuning = begin_tuning(plan_, options_, dataset_, deployment_.counts(),
                              hooks_.data.cache_features && !plan_.problem.batches, device_.memory(), room);
    });
    for (const std::string& text : tuning->notes) note(text);
    eval_every_ = tuning->eval_every;
    return std::move(*tuning);
}

RunReport Trainer::run() {
    const double begin = clock_.now();
    kernels::set_threads(options_.threads);
    Tuning tuning = prepare();
    if (tuning.feature_bytes > 0) deployment_.cache_features(tuning.feature_bytes);
    wall_.setup_seconds = clock_.now() - begin;
    do {
        if (!course_.is_over()) train_one(tuning);
    } while (begin_next_run());
    if (hooks_.outputs) save_outputs();
    wall_.load_seconds = options_.load_seconds;
    wall_.total_seconds = options_.load_seconds + clock_.now() - begin;
    finish_report(tuning.tuner);
    return std::move(report_);
}

// All epochs of one seed.
void Trainer::train_one(Tuning& tuning) {
    if (hooks_.run && options_.runs > 1) hooks_.run(course_.run(), course_.seed());
    Autotuner& tuner = tuning.tuner;
    bool last_epoch = false;
    while (!last_epoch) {
        const std::int64_t epoch = course_.next_epoch();
        const int next = tuner.candidate();
        const bool last = !tuner.tuning();
        if (next != built_) {
            const double start = clock_.now();
            build(next, last);
            if (last && built_ >= 0) note_choice(next, tuner);
            const std::vector<double> slowest =
                comm::control_max(comm_, {clock_.now() - start, deployment_.cut_seconds()});
            wall_.setup_seconds += slowest[0];
            tuner.built(slowest[0], slowest[1]);
            tuning.log.built.push_back({epoch, slowest[0], slowest[1]});
            built_ = next;
        } else if (last && !settled_) {  // it won, and stays as it is
            note_choice(next, tuner);
            deployment_.settle();
        }
        settled_ = last;
        EpochRecord record = epochs_.train(epoch);
        tuner.record(record.seconds);
        epochs_.finish(record, eval_every_, tuning.log);
        last_epoch = course_.is_last(epoch);
    }
}

// Whether there is a run of another seed: not after one that was interrupted or diverged.
bool Trainer::begin_next_run() {
    const std::optional<Ending> ending = course_.ending();
    if (course_.is_last_run() || ending == Ending::interrupted || ending == Ending::diverged) return false;
    course_.begin_anew();
    deployment_.begin_anew(course_.seed());
    return true;
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
    });
    deployment_.draw_pool();
    comm::agree(comm_, [&] {
        const std::vector<int> usable = deploy::usable_candidates(plan_, options_.features_dropout(), &dataset_);
        candidate = deploy::candidates_that_fit(plan_, usable, deployment_.counts(), device_.memory(), room).front();
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

void Trainer::finish_report(const Autotuner& tuner) {
    course_.report(report_);
    report_.ranks = comm_.size();
    report_.threads = options_.threads;
    report_.tried = tuner.tried();
    report_.chosen = built_;
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
