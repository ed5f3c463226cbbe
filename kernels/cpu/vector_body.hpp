// Bodies of the inner loops, included by one source file per instruction set (each compiled with its own flags).
//
// Everything here has internal linkage, and inline functions of other headers are not called: a copy compiled for
// AVX-512 must never be the one that the linker keeps for everybody.
#pragma once

#include <cstdint>

#include "kernels/cpu/attend_back_body.hpp"
#include "kernels/cpu/attend_body.hpp"
#include "kernels/cpu/draws_body.hpp"
#include "kernels/cpu/edges_body.hpp"
#include "kernels/cpu/gemm_body.hpp"
#include "kernels/cpu/head_body.hpp"
#include "kernels/cpu/mask_body.hpp"
#include "kernels/cpu/max_body.hpp"
#include "kernels/cpu/softmax_body.hpp"
#include "kernels/cpu/spmm_body.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/optimiser_body.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// z = activate(z + bias) of every element; `bias` may be null.
template <class Activate>
void add_bias(float* z, const float* bias, std::int64_t n, const Activate& activate) {
    if (bias != nullptr) {
        for (std::int64_t j = 0; j < n; ++j) z[j] = activate(z[j] + bias[j]);
    } else {
        for (std::int64_t j = 0; j < n; ++j) z[j] = activate(z[j]);
    }
}

template <int width>
void elu(float* z, std::int64_t n) {
    using Vector = GemmVector<width>;
    // Next to 0, e^x - 1 is x to a quarter of a unit in the last place; this also keeps the sign of 0 and subnormal x.
    constexpr float is_linear_from = -0x1p-25F;
    const auto each = [](const Vector& x) { return x > is_linear_from ? x : exponential_less_one<width>(x); };
    std::int64_t j = 0;
    for (; j + width <= n; j += width) store_vector<width>(z + j, each(load_vector<Vector>(z + j)), width);
    if (j < n) store_vector<width>(z + j, each(load_part<Vector>(z + j, n - j)), n - j);
}

template <int width>
void activate_row(float* z, const float* bias, Activation activation, std::int64_t n) {
    const auto same = [](float x) { return x; };
    switch (activation) {
        case Activation::none:
            if (bias != nullptr) add_bias(z, bias, n, same);
            return;
        case Activation::relu: return add_bias(z, bias, n, [](float x) { return x < 0 ? 0 : x; });
        case Activation::leaky_relu:
            return add_bias(z, bias, n, [](float x) { return x > 0 ? x : leaky_relu_slope * x; });
        case Activation::elu:
            if (bias != nullptr) add_bias(z, bias, n, same);
            return elu<width>(z, n);
    }
}

// h is kept * activation(z), where `kept` is what dropout multiplied with.
void activation_slopes(float* g, const float* h, Activation activation, float kept, std::int64_t n) {
    switch (activation) {
        case Activation::none: return;
        case Activation::relu:
            for (std::int64_t j = 0; j < n; ++j) g[j] = h[j] > 0 ? g[j] : 0;
            return;
        case Activation::leaky_relu:
            for (std::int64_t j = 0; j < n; ++j) g[j] = h[j] > 0 ? g[j] : leaky_relu_slope * g[j];
            return;
        case Activation::elu: {
            const float of_h = 1 / kept;
            for (std::int64_t j = 0; j < n; ++j) {
                const float negative = h[j] * of_h + 1;
                g[j] *= h[j] > 0 ? 1 : negative;
            }
            return;
        }
    }
}

void drop(const float* in, float* out, std::int64_t n, const std::uint16_t* draws, std::uint32_t threshold,
          float scale) {
    for (std::int64_t j = 0; j < n; ++j) {
        const float scaled = in[j] * scale;
        out[j] = draws[j] >= threshold ? scaled : 0.0F;
    }
}

void add_to(const float* g, std::int64_t n, double* sum) {
    for (std::int64_t j = 0; j < n; ++j) sum[j] += static_cast<double>(g[j]);
}

double dot_row(const float* a, const float* b, std::int64_t n) {
    constexpr std::int64_t lanes = 16;
    double sums[lanes] = {};
    std::int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
        for (std::int64_t t = 0; t < lanes; ++t)
            sums[t] += static_cast<double>(a[j + t]) * static_cast<double>(b[j + t]);
    }
    for (; j < n; ++j) sums[0] += static_cast<double>(a[j]) * static_cast<double>(b[j]);
    double sum = 0;
    for (const double each : sums) sum += each;
    return sum;
}

// `width` floats fill a vector register; `strip` registers hold a strip of an SpMM's result row, twice `pairs` two of
// them, as those of a maximum, 2 * `height` a tile of a product.
template <int width, int strip, int height>
constexpr VectorKernels vector_kernels(const char* name) {
    constexpr int pairs = strip / 2 + (width == 16 ? 3 : 0);  // 32 registers instead of 16
    return {name,
            spmm_rows<width, strip, float>,
            spmm_rows<width, strip, Bf16>,
            spmm_max_rows<width, pairs>,
            spmm_max_back_rows<width, pairs>,
            attend_rows<width, strip, pairs>,
            attend_back_rows<width, pairs>,
            head_dot_row<width>,
            head_squares_row<width>,
            head_spread_row,
            head_fold_row,
            edge_dot_rows<width>,
            edge_totals_rows<width>,
            edge_softmax_rows<width>,
            edge_softmax_back_rows<width>,
            head_unit_row,
            head_unit_back_row,
            to_bf16,
            gemm_rows<width, height>,
            2 * width,
            gemm_pack<width>,
            activate_row<width>,
            activation_slopes,
            dropout_draws<width / 2>,
            drop,
            pack_positive,
            apply_bits,
            softmax_row<width>,
            softmax_part<width>,
            scaled_exponentials<width>,
            add_to,
            dot_row,
            update_elements<float>};
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
