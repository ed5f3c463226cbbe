// How a plan is trained.
#pragma once

#include "kernels/device.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/train/outputs.hpp"

#include <gnnplan/ir/measurement.hpp>
#include <gnnplan/ir/training_state.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::train {

struct TrainOptions {
    std::int64_t epochs = 200;
    std::uint64_t seed = 1;  // of weights and dropout
    double learning_rate = 0.01;
    double weight_decay = 5e-4;
    double momentum = 0;                  // where the plan's optimiser has one
    bool decay_all = false;               // decay the weights of all layers, not only the first's
    double dropout = 0;                   // on every layer's input
    std::optional<double> input_dropout;  // on the features, instead of `dropout`
    double attention_dropout = 0;         // on the weights of attention
    // Epochs between evaluations; the last one is evaluated too; 0: never; unset: automatic_eval_every() of the
    // candidate that trains first.
    std::optional<std::int64_t> eval_every;
    // Epochs each candidate is tried for; 0: no tuning. Unset: chosen from the number of epochs, none below 20.
    std::optional<std::int64_t> autotune;
    bool keep_best = false;                // keep the weights of the best validation accuracy beside the last ones
    std::optional<std::int64_t> patience;  // evaluations without a better validation accuracy that end the run
    // Where training goes on from: after `start`, or with these weights at epoch 1; neither: Glorot weights. Checked
    // with check_values().
    const TrainingState* start = nullptr;
    const std::vector<NamedTensor>* weights = nullptr;
    int threads = 1;
    kernels::OpenDevice device = [] { return kernels::host_device(kernels::cpu_table()); };
    std::string product_kernel;           // that is wanted, see Device::choose(); empty: the fastest
    comm::OpenCommunicator communicator;  // between such devices; empty where their memory is the hosts'
    double load_seconds = 0;              // what reading the data took, for the report
    // An inference that goes on: the outputs of so many layers are read with hooks.read_layer.
    int layers_done = 0;

    double features_dropout() const { return input_dropout.value_or(dropout); }
};

// What there is after an epoch.
struct EpochEnd {
    std::int64_t epoch;
    bool last;                             // no other follows in this run
    std::optional<Ending> ending;          // unset: the run goes on, or took all its epochs
    std::function<TrainingState()> state;  // a copy of what training would go on from
};

// Thrown by hooks.layer on every rank: an inference ends there, with a report that says why.
struct EndOfPass {
    Ending ending;
    std::string why;
};

// Called on every rank, in the same order. Any may be empty.
struct TrainHooks {
    std::function<void(int candidate)> candidate;    // it is built next, and trains from then on
    std::function<void(const EpochRecord&)> epoch;   // an epoch and its evaluation are done
    std::function<void(const EpochEnd&)> epoch_end;  // after `epoch`
    std::function<void(std::int64_t epoch, const Step&, const exec::Executor&)>
        step;                                      // a step of a training epoch is done
    std::function<void()> release_graph;           // no rank reads the graph any more
    std::function<void()> cache_features;          // several candidates will read features, and there is room for all
    std::function<void()> release_features;        // no rank reads features any more
    std::function<void(const std::string&)> note;  // a sentence for the user
    // Called when all epochs are done and the executor has evaluated the final weights; not called after a run that
    // diverged or was interrupted. Collective.
    std::function<void(const exec::Executor&, const OutputRows&)> outputs;
    // In an inference: this tensor holds the outputs of layer 1, 2, ... for the vertices of these rows. Collective.
    std::function<void(int layer, const exec::Executor&, TensorId, const OutputRows&)> layer;
    // Reads the outputs of layer options.layers_done into the tensor, as `layer` got them. Set whenever `layer` is set.
    std::function<void(exec::Executor&, TensorId, const OutputRows&)> read_layer;
    // Called after each epoch, and after each step of an inference: returns why the run should be interrupted now, as
    // after a signal; unset: the run goes on. All ranks end as soon as one of them returns a reason.
    std::function<std::optional<std::string>()> stop;
};

}  // namespace gnnplan::train
