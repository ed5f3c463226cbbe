// Bodies of the inner loops, included by one source file per instruction set (each compiled with its own flags).
//
// Everything here has internal linkage, and inline functions of other headers are not called: a copy compiled for
// AVX-512 must never be the one that the linker keeps for everybody.
#pragma once

#include <cstdint>

#include "kernels/cpu/attend_back_body.hpp"
#include "kernels/cpu/attend_body.hpp"
#include "kernels/cpu/batch_norm_body.hpp"
#include "kernels/cpu/bf16_body.hpp"
#include "kernels/cpu/draws_body.hpp"
#include "kernels/cpu/edges_body.hpp"
#include "kernels/cpu/elementwise_body.hpp"
#include "kernels/cpu/gemm_body.hpp"
#include "kernels/cpu/head_body.hpp"
#include "kernels/cpu/labels_body.hpp"
#include "kernels/cpu/mask_body.hpp"
#include "kernels/cpu/max_body.hpp"
#include "kernels/cpu/norm_body.hpp"
#include "kernels/cpu/softmax_body.hpp"
#include "kernels/cpu/spmm_body.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/optimiser_body.hpp"

namespace gnnplan::kernels::cpu {
namespace {

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
            norm_kernels<width>(),
            batch_norm_kernels<width>(),
            to_bf16,
            from_bf16,
            add_bf16,
            gemm_rows<width, height>,
            2 * width,
            gemm_pack<width>,
            activate_rows<width>,
            activation_slopes<width>,
            divide_rows<width>,
            dropout_draws<width / 2>,
            drop_rows<width>,
            pack_positive,
            apply_bits,
            {softmax_row<width>, softmax_part<width>, scaled_exponentials<width>, label_row<width>},
            add_to,
            dot_row,
            update_elements<float>};
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
