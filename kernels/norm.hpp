// Rows that layer normalisation works on.
#pragma once

#include "kernels/views.hpp"

namespace gnnplan::kernels {

// Added to variances, as PyTorch's layer_norm does.
inline constexpr float norm_epsilon = 1e-5F;

// Some columns of rows z, and of the weight. A row has a mean and a variance over all its columns, of which `share` is
// one part: 1 / f. Below, x = (z - mean) / sqrt(variance + norm_epsilon).
struct NormedRows {
    ConstMatrix z{};
    const float* weight = nullptr;
    float* mean = nullptr;  // by row
    float* variance = nullptr;
    double share = 0;
};

}  // namespace gnnplan::kernels
