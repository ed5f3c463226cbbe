// Rows of layer normalisation. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>

#include "kernels/cpu/elementwise_body.hpp"
#include "kernels/cpu/head_body.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// The sum of z[j] for j < n, or of (z[j] - *centre)^2.
template <int width>
float norm_moment_row(const float* z, std::int64_t n, const float* centre) {
    using Vector = GemmVector<width>;
    Vector sum = {};
    std::int64_t j = 0;
    const auto term = [&](const Vector& x) {
        if (centre == nullptr) return x;
        const Vector away = x - *centre;
        return away * away;
    };
    for (; j + width <= n; j += width) sum += term(load_vector<Vector>(z + j));
    float rest = 0;
    for (; j < n; ++j) rest += centre == nullptr ? z[j] : (z[j] - *centre) * (z[j] - *centre);
    return sum_of_lanes<width>(sum, 1)[0] + rest;
}

// out[j] = (z[j] - mean) * inverse * weight[j] + bias[j].
template <int width>
void norm_scale_row(const NormRow& row, const float* bias, float* out) {
    by_vectors<width>(row.columns, [&](std::int64_t j, std::int64_t count) {
        const GemmVector<width> x = (load_some<width>(row.z + j, count) - row.mean) * row.inverse;
        store_vector<width>(out + j, x * load_some<width>(row.weight + j, count) + load_some<width>(bias + j, count),
                            count);
    });
}

// Adds g x to of_weight and g to of_bias, and returns the sums of g weight and of g weight x.
template <int width>
NormSums norm_sums_row(const NormRow& row, const float* g, double* of_weight, double* of_bias) {
    using Vector = GemmVector<width>;
    Vector plain = {}, along = {};
    by_vectors<width>(row.columns, [&](std::int64_t j, std::int64_t count) {
        const Vector scaled = load_some<width>(g + j, count) * load_some<width>(row.weight + j, count);
        const Vector x = (load_some<width>(row.z + j, count) - row.mean) * row.inverse;
        plain += scaled, along += scaled * x;
    });
    for (std::int64_t j = 0; j < row.columns; ++j) {
        of_weight[j] += static_cast<double>(g[j] * ((row.z[j] - row.mean) * row.inverse));
        of_bias[j] += static_cast<double>(g[j]);
    }
    return {sum_of_lanes<width>(plain, 1)[0], sum_of_lanes<width>(along, 1)[0]};
}

// g[j] = (g[j] * weight[j] - plain - x * along) * inverse, the two being means.
template <int width>
void norm_back_row(const NormRow& row, NormSums means, float* g) {
    by_vectors<width>(row.columns, [&](std::int64_t j, std::int64_t count) {
        const GemmVector<width> x = (load_some<width>(row.z + j, count) - row.mean) * row.inverse;
        const GemmVector<width> scaled = load_some<width>(g + j, count) * load_some<width>(row.weight + j, count);
        store_vector<width>(g + j, (scaled - means.plain - x * means.along) * row.inverse, count);
    });
}

template <int width>
constexpr NormKernels norm_kernels() {
    return {norm_moment_row<width>, norm_scale_row<width>, norm_sums_row<width>, norm_back_row<width>};
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
