// One column of batch normalisation: what its moments, or its running values, become. Included by the oracle, by the
// CPU's kernels and by those of GPUs.
#pragma once

#include <cstdint>

#include "kernels/norm.hpp"

#if defined(__CUDACC__)
#define GNNPLAN_ON_BOTH __host__ __device__
#else
#define GNNPLAN_ON_BOTH
#endif

namespace gnnplan::kernels {
namespace {

GNNPLAN_ON_BOTH inline float inverse_deviation(double variance) {
    return static_cast<float>(1 / __builtin_sqrt(variance + static_cast<double>(norm_epsilon)));
}

// As PyTorch: rows are divided by the deviation of them all, and the running variance is that of a sample. A single row
// tells nothing of the variance of others.
GNNPLAN_ON_BOTH inline void finish_column(const ColumnMoments& of, std::int64_t j, float* mean, float* inverse,
                                          float* running_mean, float* running_variance) {
    const auto rows = static_cast<double>(of.rows);
    const double centre = of.sum[j] / rows;
    const double spread = of.squares[j] / rows - centre * centre;  // below 0 by rounding alone
    const double variance = spread > 0 ? spread : 0;
    const double sample = of.rows > 1 ? variance * rows / (rows - 1) : variance;
    mean[j] = static_cast<float>(centre), inverse[j] = inverse_deviation(variance);
    running_mean[j] += norm_momentum * (static_cast<float>(centre) - running_mean[j]);
    running_variance[j] += norm_momentum * (static_cast<float>(sample) - running_variance[j]);
}

GNNPLAN_ON_BOTH inline void known_column(const float* running_mean, const float* running_variance, std::int64_t j,
                                         float* mean, float* inverse) {
    mean[j] = running_mean[j], inverse[j] = inverse_deviation(static_cast<double>(running_variance[j]));
}

}  // namespace
}  // namespace gnnplan::kernels

#undef GNNPLAN_ON_BOTH
