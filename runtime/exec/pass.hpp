// The settings of one pass over a phase of a schedule.
#pragma once

#include "kernels/table.hpp"
#include "runtime/exec/decay.hpp"

#include <cstdint>

namespace gnnplan::exec {

struct PassSettings {
    std::uint64_t seed = 1;       // of dropout
    std::uint32_t epoch = 1;      // from 1; of dropout, and of Adam's corrections
    bool training = true;         // dropout takes part
    float dropout = 0;            // on the inputs of layers 2 .. L
    float input_dropout = 0;      // on the features
    float attention_dropout = 0;  // on the weights of attention
    double inverse_training_count = 0;
    float rate = 1;                  // that the learning rate is multiplied by
    kernels::UpdateSettings update;  // without `pass`; weight_decay is for the parameters that decay
    Decay decay = {};

    // Probability of dropping an element of the input of `layer`.
    float drop_probability(int layer) const { return !training ? 0.0F : layer == 1 ? input_dropout : dropout; }
};

}  // namespace gnnplan::exec
