#include "runtime/run/training_files.hpp"

#include "planner/io/report.hpp"
#include "runtime/deploy/model_values.hpp"

namespace gnnplan::run {

void Metrics::add(const EpochRecord& epoch, std::optional<std::uint64_t> seed) {
    if (!path_ || failed_) return;
    if (!file_) file_.reset(std::fopen(path_->c_str(), "w"));
    const std::string line = io::metrics_line(epoch, seed);
    failed_ =
        !file_ || std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fflush(file_.get()) != 0;
}

void Metrics::check() const {
    if (failed_) throw Error(ErrorCode::io, "not all lines could be written", *path_);
}

TrainingFiles::TrainingFiles(const Settings& asked, Checkpoints saved, const TrainingState* start)
    : settings(asked), metrics(asked.metrics), checkpoints(std::move(saved)), seed_(asked.training.seed) {
    if (start == nullptr) return;
    for (const std::vector<EpochRecord>& run : start->runs_before) {
        for (const EpochRecord& epoch : run) add(epoch);
        begin_run(seed_ + 1);
    }
    for (const EpochRecord& epoch : start->epochs) add(epoch);
}

void TrainingFiles::begin_run(std::uint64_t seed) { seed_ = seed; }

void TrainingFiles::add(const EpochRecord& epoch) {
    metrics.add(epoch, settings.training.runs > 1 ? std::optional(seed_) : std::nullopt);
}

void TrainingFiles::add(const train::EpochEnd& end) {
    checkpoints.offer(end);
    if (end.last && settings.save_weights && end.ending != Ending::diverged) keep_weights(end.state());
}

void TrainingFiles::keep_weights(const TrainingState& state) {
    const train::TrainOptions& training = settings.training;
    const bool best = training.keep_best && deploy::holds_best(state, training.best_by);
    const std::string wanted = best ? std::string(deploy::best_prefix) + "layers." : "layers.";
    for (const NamedTensor& tensor : state.tensors) {
        if (!tensor.name.starts_with(wanted)) continue;
        weights.push_back({tensor.name.substr(tensor.name.find("layers.")), tensor.shape, tensor.values});
    }
}

}  // namespace gnnplan::run
