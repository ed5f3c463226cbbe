// The rest of a deployment: what stays in memory between passes, and the passes.
#include "runtime/deploy/deployment.hpp"

#include "runtime/deploy/model_values.hpp"

#include <algorithm>
#include <utility>

namespace gnnplan::deploy {

// Batches are filled from all features, which stay.
void Deployment::keep_for_batches() {
    if (!on_batches() || batch_features_) return;
    if (hooks_.data.cache_features) comm::agree(comm_, hooks_.data.cache_features);
    comm::agree(comm_, [&] {
        if (dataset_.features_in_memory()) return;
        throw Error(ErrorCode::usage, "batches are filled from features in memory, and these are read from files",
                    dataset_.report().path, "call cache_features() of the data set");
    });
    batch_features_.emplace(tracker_, 4 * dataset_.vertices() * dataset_.features(), exec::Holder::host);
}

void Deployment::release_graph() {
    if (on_batches()) return;
    scales_ = {}, of_groups_ = {};
    share_.reset(), loaded_.reset();
    comm_.barrier();
    if (hooks_.data.release_graph) hooks_.data.release_graph();
}

void Deployment::release_features() {
    if (on_batches()) return;
    cached_features_.reset();
    comm_.barrier();
    if (hooks_.data.release_features) hooks_.data.release_features();
}

// The trials' memory has been in use up to here.
void Deployment::keep_tuning_peak() {
    if (tuning_peak_) tuning_peak_->measured_bytes = std::max(tuning_peak_->measured_bytes, tracker_.peak());
}

exec::PassSettings Deployment::settings(std::int64_t epoch, bool training) const {
    exec::PassSettings settings = use_.passes;
    settings.epoch = static_cast<std::uint32_t>(epoch);
    settings.training = training;
    return settings;
}

exec::Executor::Observer Deployment::observer(std::int64_t epoch) const {
    if (!hooks_.step) return {};
    return [this, epoch](const Step& step, const exec::Executor& executor) { hooks_.step(epoch, step, executor); };
}

void Deployment::begin_anew(std::uint64_t seed) {
    use_.passes.seed = seed;
    use_.values = options_.weights, use_.moments = false;
    if (!executor_) return;
    executor_->begin_anew();
    comm::agree(comm_, [&] {
        state_->draw(executor_->schedule(), seed);
        if (use_.values != nullptr) set_values(*state_, *use_.values, false);
    });
}

void Deployment::settle() {
    keep_tuning_peak();
    release_graph();
    release_features();
}

void Deployment::take_batches(std::int64_t epoch) {
    comm::agree(comm_, [&] {
        const auto counts = batches_->take(epoch, dataset_, *executor_, clock_);
        measured_.epoch.expect(expected_bytes(batches_->schedule(), Phase::epoch, *counts, comm_.rank()));
    });
}

std::vector<measure::StepSample> Deployment::run(Phase phase, std::int64_t epoch, bool training, Watched watched) {
    const bool hears = watched == Watched::yes;
    if (batches_ && phase == Phase::epoch) take_batches(epoch);
    if (batches_ && phase == Phase::evaluation) batches_->leave();
    auto samples = executor_->run(phase, settings(epoch, training),
                                  hears ? observer(epoch) : exec::Executor::Observer(), first_step_);
    if (hears && hooks_.pass) hooks_.pass(times_of(executor_->schedule(), phase, first_step_, epoch, samples));
    return samples;
}

void Deployment::report(RunReport& report) {
    executor_->drain();
    keep_tuning_peak();
    report.predicted = predicted_;
    if (tuning_peak_) {
        tuning_peak_->measured_bytes =
            static_cast<std::int64_t>(comm::control_max(comm_, static_cast<double>(tuning_peak_->measured_bytes)));
        report.tuning_peak = tuning_peak_;
    }
    if (batches_) {
        report.batches = batches_->totals(comm_);
        report.batches->predicted_seconds = predicted_.batch_seconds;
    }
    measured_.load_seconds = options_.load_seconds + share_seconds_;
    measured_.peak_bytes = tracker_.peak();
    measured_.host_peak_bytes = tracker_.host_peak();
    report_candidate(comm_, plan_, measured_, report);
}

}  // namespace gnnplan::deploy
