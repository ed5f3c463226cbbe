// Weights and checkpoints as safetensors: docs/checkpoints.md.
#pragma once

#include <gnnplan/ir/training_state.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnnplan::io {

inline constexpr std::string_view checkpoint_schema = "gnnplan.checkpoint/1";

struct Checkpoint {
    std::string tool_version;
    std::string command_line;
    // The settings and the data of the run, each with its name, as people read it.
    std::vector<std::pair<std::string, std::string>> facts;
    TrainingState state;
};

// Ends with a hash of everything before.
std::string write_checkpoint(const Checkpoint& checkpoint);

// Throws Error{data} when a byte is not as it was written, what is in it is no checkpoint, or holds a value that no run
// leaves: a weight or moment that is not finite, a second moment below 0, a loss, time or accuracy that nobody
// measures.
Checkpoint read_checkpoint(std::string_view file, const std::string& where);

// The facts about weights besides their shapes, each with its name, as people read it.
using WeightFacts = std::vector<std::pair<std::string, std::string>>;

std::string write_weights(const std::vector<NamedTensor>& tensors, const WeightFacts& facts = {});

// None of a checkpoint, and of a file that another program has written. Throws Error{data} when it is no safetensors
// file.
WeightFacts facts_of_weights(std::string_view file, const std::string& where);

// The tensors of a safetensors file whose names begin with "layers.", in the order of the file; a checkpoint is one,
// too. They may be of type F64, F32, F16 or BF16, and become floats. Throws Error{data} when there are none, they are
// of another type, or one is not finite as a float.
std::vector<NamedTensor> read_weights(std::string_view file, const std::string& where);

// The content of a safetensors file.
struct TensorsContent {
    std::string_view schema;  // of a checkpoint; "" of weights alone
    std::string text;         // "epoch 30, layers 128x256, 256x40 with biases"
    WeightFacts facts = {};   // of a checkpoint
};

// Throws Error{data} when it is neither a whole checkpoint nor weights.
TensorsContent read_content(std::string_view file, const std::string& where);

}  // namespace gnnplan::io
