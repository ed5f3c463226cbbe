// Bodies of the inner loops, included by one source file per instruction set (each compiled with its own flags).
//
// Everything here has internal linkage, and inline functions of other headers are not called: a copy compiled for
// AVX-512 must never be the one that the linker keeps for everybody.
#pragma once

#include <cstdint>

#include "kernels/cpu/draws_body.hpp"
#include "kernels/cpu/gemm_body.hpp"
#include "kernels/cpu/mask_body.hpp"
#include "kernels/cpu/max_body.hpp"
#include "kernels/cpu/softmax_body.hpp"
#include "kernels/cpu/spmm_body.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/optimiser_body.hpp"

namespace gnnplan::kernels::cpu {
namespace {

void bias_relu(float* z, const float* bias, bool relu, std::int64_t n) {
    if (bias != nullptr && relu) {
        for (std::int64_t j = 0; j < n; ++j) {
            const float x = z[j] + bias[j];
            z[j] = x < 0 ? 0 : x;
        }
    } else if (bias != nullptr) {
        for (std::int64_t j = 0; j < n; ++j) z[j] += bias[j];
    } else if (relu) {
        for (std::int64_t j = 0; j < n; ++j) z[j] = z[j] < 0 ? 0 : z[j];
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

// `width` floats fill a vector register; `strip` registers hold a strip of an SpMM's result row, twice `pairs` that of a
// maximum, 2 * `height` a tile of a product.
template <int width, int strip, int height>
constexpr VectorKernels vector_kernels(const char* name) {
    constexpr int pairs = strip / 2 + (width == 16 ? 3 : 0);  // 32 registers instead of 16
    return {name,
            spmm_rows<width, strip, float>,
            spmm_rows<width, strip, Bf16>,
            spmm_max_rows<width, pairs>,
            spmm_max_back_rows<width, pairs>,
            to_bf16,
            gemm_rows<width, height>,
            2 * width,
            gemm_pack<width>,
            bias_relu,
            dropout_draws<width / 2>,
            drop,
            pack_positive,
            apply_bits,
            softmax_row<width>,
            softmax_part<width>,
            scaled_exponentials<width>,
            add_to,
            update_elements<float>};
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
