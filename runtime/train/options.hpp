// How a plan is trained.
#pragma once

#include "runtime/deploy/options.hpp"
#include "runtime/exec/decay.hpp"
#include "runtime/train/schedule.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/training_state.hpp>

#include <cstdint>
#include <functional>
#include <optional>

namespace gnnplan::train {

struct TrainOptions : deploy::RunOptions {
    std::int64_t epochs = 200;
    int runs = 1;  // of as many seeds, from `seed` on, one after the other
    double learning_rate = 0.01;
    RateSchedule schedule = {};
    double weight_decay = 5e-4;
    double momentum = 0;                  // where the plan's optimiser has one
    exec::Decay decay = {};               // which parameters decay
    double dropout = 0;                   // on every layer's input
    std::optional<double> input_dropout;  // on the features, instead of `dropout`
    double attention_dropout = 0;         // on the weights of attention
    // Epochs between evaluations; the last one is evaluated too; 0: never; unset: automatic_eval_every() of the
    // candidate that trains first.
    std::optional<std::int64_t> eval_every;
    // Epochs each candidate is tried for; 0: no tuning. Unset: chosen from the number of epochs, none below 20.
    std::optional<std::int64_t> autotune;
    bool keep_best = false;                // keep the weights of the best validation beside the last ones
    BestBy best_by = BestBy::accuracy;     // the best validation is
    std::optional<std::int64_t> patience;  // evaluations without a better validation that end the run
    // The state after which training goes on, instead of beginning at epoch 1; checked with deploy::check_values().
    const TrainingState* start = nullptr;

    double features_dropout() const { return input_dropout.value_or(dropout); }
};

// The figures after an epoch.
struct EpochEnd {
    std::int64_t epoch;
    bool last;                             // no other follows in this run
    std::optional<Ending> ending;          // unset: the run goes on, or took all its epochs
    std::function<TrainingState()> state;  // a copy of what training would go on from
};

struct TrainHooks : deploy::RunHooks {
    std::function<void(int run, std::uint64_t seed)> run;  // of several, from 0: its epochs follow
    std::function<void(const EpochRecord&)> epoch;         // an epoch and its evaluation are done
    std::function<void(const EpochEnd&)> epoch_end;        // after `epoch`
};

}  // namespace gnnplan::train
