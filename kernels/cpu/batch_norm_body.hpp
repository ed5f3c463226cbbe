// Rows of batch normalisation. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>

#include "kernels/cpu/elementwise_body.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

void batch_moments_row(const float* z, std::int64_t n, double* sum, double* squares) {
    for (std::int64_t j = 0; j < n; ++j) {
        const auto value = static_cast<double>(z[j]);
        sum[j] += value, squares[j] += value * value;
    }
}

// (z - mean) * inverse of `count` columns from j on.
template <int width>
GemmVector<width> batch_normed(const NormedColumns& of, const float* z, std::int64_t j, std::int64_t count) {
    return (load_some<width>(z + j, count) - load_some<width>(of.mean + j, count)) *
           load_some<width>(of.inverse + j, count);
}

template <int width>
void batch_scale_row(const NormedColumns& of, std::int64_t i, const float* bias, float* out) {
    const float* const z = of.z.data + i * of.z.stride;
    by_vectors<width>(of.z.columns, [&](std::int64_t j, std::int64_t count) {
        const GemmVector<width> x = batch_normed<width>(of, z, j, count);
        store_vector<width>(out + j, x * load_some<width>(of.weight + j, count) + load_some<width>(bias + j, count),
                            count);
    });
}

void batch_sums_row(const NormedColumns& of, std::int64_t i, const float* g, double* along, double* plain) {
    const float* const z = of.z.data + i * of.z.stride;
    for (std::int64_t j = 0; j < of.z.columns; ++j) {
        along[j] += static_cast<double>(g[j] * ((z[j] - of.mean[j]) * of.inverse[j]));
        plain[j] += static_cast<double>(g[j]);
    }
}

template <int width>
void batch_back_row(const NormedColumns& of, std::int64_t i, const float* along, const float* plain, float* g) {
    const float* const z = of.z.data + i * of.z.stride;
    by_vectors<width>(of.z.columns, [&](std::int64_t j, std::int64_t count) {
        const GemmVector<width> x = batch_normed<width>(of, z, j, count);
        const GemmVector<width> means = load_some<width>(plain + j, count) + x * load_some<width>(along + j, count);
        const GemmVector<width> scale =
            load_some<width>(of.weight + j, count) * load_some<width>(of.inverse + j, count);
        store_vector<width>(g + j, (load_some<width>(g + j, count) - means) * scale, count);
    });
}

template <int width>
constexpr BatchNormKernels batch_norm_kernels() {
    return {batch_moments_row, batch_scale_row<width>, batch_sums_row, batch_back_row<width>};
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
