#include "runtime/train/course.hpp"

#include "runtime/deploy/model_values.hpp"
#include "runtime/train/seed_runs.hpp"

namespace gnnplan::train {

Course::Course(const TrainOptions& options, bool keeps_values)
    : options_(options),
      keeps_best_(options.keep_best && keeps_values),
      rate_(options.schedule, options.learning_rate) {
    if (options.start == nullptr) return;
    goes_on_ = true;
    runs_before_ = options.start->runs_before;
    // Without the weights of its best epoch a checkpoint's validations are nothing to be compared with.
    const bool holds_best = deploy::holds_best(*options.start, options.best_by);
    const bool judged = !options.keep_best || holds_best;
    for (const EpochRecord& record : options.start->epochs) {
        epochs_.push_back(record);
        rate_.add(record.loss);
        if (judged) judge(record);
    }
    if (keeps_best_ && holds_best) best_values_ = deploy::best_values(options.start->tensors);
    end_when_patience_is_out();
}

// Whether this epoch is better than all before. One without validation is not.
bool Course::judge(const EpochRecord& record) {
    const std::optional<double> good = goodness(record, options_.best_by);
    if (!good) return false;
    ++since_best_;
    if (best_ && *good <= goodness(epochs_[static_cast<std::size_t>(*best_ - 1)], options_.best_by)) return false;
    best_ = record.epoch;
    since_best_ = 0;
    return true;
}

void Course::begin_anew() {
    runs_before_.push_back(std::move(epochs_));
    epochs_.clear();
    goes_on_ = false;
    rate_ = RateCourse(options_.schedule, options_.learning_rate);
    ending_.reset(), best_.reset(), best_values_.clear();
    since_best_ = 0;
}

void Course::end(Ending why, std::string words) {
    ending_ = why;
    words_ = std::move(words);
}

void Course::add(const EpochRecord& record, const exec::ModelState& state) {
    epochs_.push_back(record);
    rate_.add(record.loss);
    if (judge(record) && keeps_best_) best_values_ = deploy::values_of(state, false);
    end_when_patience_is_out();
}

void Course::end_when_patience_is_out() {
    if (!options_.patience || since_best_ < *options_.patience || is_over()) return;
    const std::string better = options_.best_by == BestBy::loss ? "lower" : "better";
    end(Ending::patience, "no " + better + " validation " + std::string(name_of(options_.best_by)) + " in " +
                              std::to_string(since_best_) + " evaluations");
}

TrainingState Course::state(const exec::ModelState& state, const TuningLog& tuning) const {
    TrainingState all{epochs_.back().epoch, deploy::values_of(state, true), epochs_, tuning, options_.best_by,
                      runs_before_};
    for (const NamedTensor& value : best_values_) {
        all.tensors.push_back({deploy::best_prefix + value.name, value.shape, value.values});
    }
    return all;
}

void Course::report(RunReport& report) const {
    report.seed = seed();
    if (options_.runs > 1) {
        for (std::size_t i = 0; i < runs_before_.size(); ++i)
            report.runs.push_back(seed_run(options_.seed + i, runs_before_[i], options_.best_by));
        report.runs.push_back(seed_run(seed(), epochs_, options_.best_by));
        report.spreads = spreads_of(report.runs);
    }
    report.epochs = epochs_;
    report.ending = ending_;
    if (ending_) report.ended = words_;
    if (options_.keep_best) report.best_epoch = best_;
    if (goes_on_) report.resumed_after = options_.start->epoch;
}

}  // namespace gnnplan::train
