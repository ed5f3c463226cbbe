// Rows that layer normalisation works on.
#pragma once

#include "kernels/views.hpp"

#include <cstdint>

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

// Some columns of all rows z of a rank, and of the weight. A column has a mean, and inverse = 1 / sqrt(variance +
// norm_epsilon), over the rows of all ranks. Below, x = (z - mean) * inverse.
struct NormedColumns {
    ConstMatrix z{};
    const float* mean = nullptr;  // by column
    const float* inverse = nullptr;
    const float* weight = nullptr;
};

// Two sums over rows by column, and how many rows they are of. Their mean and unbiased variance move running values by
// as much as those of PyTorch's batch_norm.
struct ColumnMoments {
    const double* sum = nullptr;
    const double* squares = nullptr;
    std::int64_t columns = 0;
    std::int64_t rows = 0;
};
inline constexpr float norm_momentum = 0.1F;

}  // namespace gnnplan::kernels
