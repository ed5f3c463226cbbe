#include "runtime/train/epochs.hpp"

#include "runtime/data/judge.hpp"
#include "runtime/deploy/model_values.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::train {

Epochs::Epochs(comm::Communicator& comm, const Plan& plan, const data::Dataset& dataset, const TrainOptions& options,
               const TrainHooks& hooks, measure::Clock& clock, deploy::Deployment& deployment, Course& course,
               WallTimes& wall)
    : comm_(comm),
      plan_(plan),
      dataset_(dataset),
      options_(options),
      hooks_(hooks),
      clock_(clock),
      deployment_(deployment),
      course_(course),
      wall_(wall) {}

EpochRecord Epochs::train(std::int64_t epoch) {
    const double start = clock_.now();
    deployment_.set_rate(course_.rate());
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
    record.loss = deployment_.executor().loss_sum() /
                  static_cast<double>(dataset_.known_labels(data::train) * plan_.problem.losses_per_update());
    // Summed over the ranks, so the same bits on all of them.
    if (!std::isfinite(record.loss)) course_.end(Ending::diverged, "the loss is no longer finite");
    if (course_.is_last(epoch)) check_weights();
    // The first epoch after a build warms up caches.
    deploy::Measurements& measured = deployment_.measured();
    if (++since_build_ == 2) {
        measured.steady_seconds.clear();
        measured.epoch.restart_times();
    }
    measured.epoch.add(samples);
    measured.steady_seconds.push_back(record.seconds);
    return record;
}

// The loss is that of the weights before the update, so nothing else would tell what the last one did.
void Epochs::check_weights() {
    if (course_.ending() == Ending::diverged) return;
    const bool finite = deploy::all_finite(deploy::values_of(deployment_.state(), false));
    if (comm::control_max(comm_, finite ? 0.0 : 1.0) > 0) {
        course_.end(Ending::diverged, "the last update made weights that are not finite");
    }
}

// An epoch that a signal makes the last is evaluated no earlier than it would have been, so that the run that goes on
// has the evaluations of one that was not interrupted.
bool Epochs::evaluation_due(std::int64_t epoch, std::int64_t eval_every) const {
    if (eval_every == 0 || course_.ending() == Ending::diverged) return false;
    return epoch % eval_every == 0 || (course_.is_last(epoch) && course_.ending() != Ending::interrupted);
}

void Epochs::evaluate(EpochRecord& record) {
    const double start = clock_.now();
    deployment_.measured().evaluation.add(deployment_.run(Phase::evaluation, record.epoch, false));
    wall_.evaluation_seconds += clock_.now() - start;
    ++wall_.evaluations;
    const exec::Executor& executor = deployment_.executor();
    const data::Judged judged = data::judge(executor.counts(), executor.rank_sums(), dataset_);
    record.judgement = judged.judgement;
    record.valid_loss = judged.valid_loss;
}

void Epochs::finish(EpochRecord record, std::int64_t eval_every, const TuningLog& log) {
    if (evaluation_due(record.epoch, eval_every)) evaluate(record);
    course_.add(record, deployment_.state());
    if (course_.ending() == Ending::patience) check_weights();  // only now is it known that this epoch is the last
    if (hooks_.epoch) hooks_.epoch(record);
    if (!hooks_.epoch_end) return;
    hooks_.epoch_end({record.epoch, course_.is_last(record.epoch), course_.ending(),
                      [&] { return course_.state(deployment_.state(), log); }});
}

}  // namespace gnnplan::train
