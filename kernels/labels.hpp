// Labels of the rows of a block of logits.
#pragma once

#include <cstdint>

namespace gnnplan::kernels {

// Several labels for each row: bit i * columns + j, least significant bits first, is of column j of row i.
struct LabelBits {
    const std::uint8_t* value = nullptr;  // whether the row has the label
    const std::uint8_t* known = nullptr;  // whether that is known; null: of all
};

// Sigmoid cross-entropy over the training vertices of a row block.
struct SigmoidInput {
    LabelBits labels{};
    const std::uint8_t* split = nullptr;  // per local row
    double inverse_training_count = 0;    // 1 / the number of known labels of all training vertices
    const float* weight = nullptr;        // per local row, by how much it counts; null: by 1
};

}  // namespace gnnplan::kernels
