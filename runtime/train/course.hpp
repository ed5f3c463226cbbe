// The epochs of a run: how they went, which one was best, and why the last one was the last.
#pragma once

#include "runtime/exec/model_state.hpp"
#include "runtime/train/options.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/training_state.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::train {

class Course {
public:
    // Goes on from options.start, if there is one, unless that was the end. The best weights are kept if the options
    // say so and `keeps_values`, which one rank does for all. The options outlive it.
    Course(const TrainOptions& options, bool keeps_values);
    // The run of the next seed.
    void begin_anew();
    // The number of this run among those that are asked for, from 0, and whether it is the last of them.
    int run() const { return static_cast<int>(runs_before_.size()); }
    bool is_last_run() const { return run() + 1 >= options_.runs; }
    std::uint64_t seed() const { return options_.seed + runs_before_.size(); }

    std::int64_t next_epoch() const { return std::ssize(epochs_) + 1; }
    // Whether there is nothing left to train: all epochs are done, or validation got no better for too long.
    bool is_over() const { return is_last(next_epoch() - 1); }
    // Whether no epoch follows this one, as far as is known.
    bool is_last(std::int64_t epoch) const { return ending_ || epoch >= options_.epochs; }
    std::optional<Ending> ending() const { return ending_; }

    // The learning rate of the next epoch is multiplied by this.
    double rate() const { return rate_.factor(); }

    void end(Ending why, std::string words);
    // The next epoch is done. Ends the run when validation has not got better for as long as the options allow.
    void add(const EpochRecord& record, const exec::ModelState& state);

    // The weights of the best epoch so far, on the rank that keeps them; empty on others and before any is judged.
    const std::vector<NamedTensor>& best_weights() const { return best_values_; }

    // The state from which training would go on. There was an epoch.
    TrainingState state(const exec::ModelState& state, const TuningLog& tuning) const;
    // Fills in everything of the report that is told here.
    void report(RunReport& report) const;

private:
    const TrainOptions& options_;
    bool keeps_best_;
    bool goes_on_ = false;  // the run from options.start
    std::vector<std::vector<EpochRecord>> runs_before_;
    RateCourse rate_;
    std::vector<EpochRecord> epochs_;
    std::optional<Ending> ending_;
    std::string words_;
    std::optional<std::int64_t> best_;  // epoch
    std::int64_t since_best_ = 0;       // evaluations
    std::vector<NamedTensor> best_values_;

    bool judge(const EpochRecord& record);
    void end_when_patience_is_out();
};

}  // namespace gnnplan::train
