// Elementwise work on rows, a vector at a time. Part of vector_body.hpp, whose linkage rules hold here too.
//
// The elements of a row behind its whole vectors are one more vector with fewer lanes, not a loop over elements: rows
// of 41 columns took four times as long for each element as rows of 128.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/cpu/gemm_body.hpp"
#include "kernels/cpu/softmax_body.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// body(j, count) for vectors of a row of n elements: `count` of them from j on, `width` but for the last vector.
template <int width, class Body>
void by_vectors(std::int64_t n, const Body& body) {
    std::int64_t j = 0;
    for (; j + width <= n; j += width) body(j, std::int64_t{width});
    if (j < n) body(j, n - j);
}

template <int width>
GemmVector<width> load_some(const float* from, std::int64_t count) {
    using Vector = GemmVector<width>;
    return count == width ? load_vector<Vector>(from) : load_part<Vector>(from, count);
}

// z = activate(z + bias) of every element; `bias` may be null.
template <int width, class Activate>
void change_rows(Matrix z, const float* bias, const Activate& activate) {
    if (bias == nullptr && z.stride == z.columns) z = {z.data, 1, z.rows * z.columns, z.rows * z.columns};
    for (std::int64_t i = 0; i < z.rows; ++i) {
        float* row = z.row(i);
        by_vectors<width>(z.columns, [&](std::int64_t j, std::int64_t count) {
            GemmVector<width> x = load_some<width>(row + j, count);
            if (bias != nullptr) x += load_some<width>(bias + j, count);
            store_vector<width>(row + j, activate(x), count);
        });
    }
}

template <int width>
void activate_rows(Matrix z, const float* bias, Activation activation) {
    using Vector = GemmVector<width>;
    const Vector zero = {};
    switch (activation) {
        case Activation::none:
            if (bias != nullptr) change_rows<width>(z, bias, [](const Vector& x) { return x; });
            return;
        case Activation::relu: return change_rows<width>(z, bias, [&](const Vector& x) { return x < zero ? zero : x; });
        case Activation::leaky_relu:
            return change_rows<width>(z, bias, [&](const Vector& x) { return x > zero ? x : leaky_relu_slope * x; });
        case Activation::elu: {
            // Next to 0, e^x - 1 is x to a quarter of a unit in the last place; this also keeps the sign of 0 and
            // subnormal x.
            constexpr float is_linear_from = -0x1p-25F;
            return change_rows<width>(
                z, bias, [](const Vector& x) { return x > is_linear_from ? x : exponential_less_one<width>(x); });
        }
    }
}

// g = slope(g, h) of every element.
template <int width, class Slope>
void slope_rows(Matrix g, ConstMatrix h, const Slope& slope) {
    for (std::int64_t i = 0; i < g.rows; ++i) {
        float* to = g.row(i);
        const float* made = h.row(i);
        by_vectors<width>(g.columns, [&](std::int64_t j, std::int64_t count) {
            const GemmVector<width> changed = slope(load_some<width>(to + j, count), load_some<width>(made + j, count));
            store_vector<width>(to + j, changed, count);
        });
    }
}

// h is kept * activation(z), where `kept` is what dropout multiplied with.
template <int width>
void activation_slopes(Matrix g, ConstMatrix h, Activation activation, float kept) {
    using Vector = GemmVector<width>;
    const Vector zero = {};
    switch (activation) {
        case Activation::none: return;
        case Activation::relu:
            return slope_rows<width>(g, h, [&](const Vector& x, const Vector& y) { return y > zero ? x : zero; });
        case Activation::leaky_relu:
            return slope_rows<width>(
                g, h, [&](const Vector& x, const Vector& y) { return y > zero ? x : leaky_relu_slope * x; });
        case Activation::elu: {
            const float of_h = 1 / kept;
            return slope_rows<width>(g, h, [&](const Vector& x, const Vector& y) {
                const Vector negative = y * of_h + 1.0F;
                return x * (y > zero ? zero + 1.0F : negative);
            });
        }
    }
}

// g = g / by of every element, 0 where `by` is 0.
template <int width>
void divide_rows(Matrix g, ConstMatrix by) {
    using Vector = GemmVector<width>;
    const Vector zero = {};
    slope_rows<width>(
        g, by, [&](const Vector& x, const Vector& y) { return y == zero ? zero : x / (y == zero ? zero + 1.0F : y); });
}

// x where the draw is not below the threshold, and 0 elsewhere; of the first `count` lanes.
template <int width>
GemmVector<width> kept_lanes(const GemmVector<width>& x, const std::uint16_t* draws, std::int64_t count,
                             std::uint32_t threshold) {
#if defined(__AVX512F__)
    const auto lanes = static_cast<__mmask16>((1U << count) - 1);
    const __m256i drawn = _mm256_maskz_loadu_epi16(lanes, draws);
    const __m256i least = _mm256_set1_epi16(static_cast<short>(threshold));
    return _mm512_maskz_mov_ps(_mm256_mask_cmpge_epu16_mask(lanes, drawn, least), x);
#else
    typename IntegerVectorOf<width>::type drawn = {};
    for (std::int64_t t = 0; t < count; ++t) drawn[t] = draws[t];
    return drawn >= static_cast<std::int32_t>(threshold) ? x : GemmVector<width>{};
#endif
}

template <int width>
void drop_rows(ConstMatrix in, Matrix out, const std::uint16_t* draws, std::int64_t row_draws, std::uint32_t threshold,
               float scale) {
    for (std::int64_t i = 0; i < out.rows; ++i, draws += row_draws) {
        const float* from = in.row(i);
        float* to = out.row(i);
        by_vectors<width>(out.columns, [&](std::int64_t j, std::int64_t count) {
            const GemmVector<width> scaled = load_some<width>(from + j, count) * scale;
            store_vector<width>(to + j, kept_lanes<width>(scaled, draws + j, count, threshold), count);
        });
    }
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
