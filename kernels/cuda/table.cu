#include "kernels/cuda/table.hpp"

#include "kernels/cuda/cuda.hpp"

#include <algorithm>

// nvcc lists the architectures that it compiles for; tests have other compilers.
#ifndef __CUDA_ARCH_LIST__
#define __CUDA_ARCH_LIST__ 750
#endif

namespace gnnplan::kernels::cuda {
namespace {

constexpr Table with_mixing(Table table) {
    table.scale = scale;
    table.sum = sum;
    table.add_identity = add_identity;
    return table;
}

constexpr Table with_bf16(Table table) {
    table.narrow = narrow;
    table.widen = widen;
    table.gather_rows_narrow = gather_rows_narrow;
    table.gather_rows_bf16 = gather_rows_bf16;
    table.add_widened = add_widened;
    table.add_rows_widened = add_rows_widened;
    return table;
}

// Logits are not ranked.
constexpr Table with_labels(Table table) {
    table.sigmoid_cross_entropy = sigmoid_cross_entropy;
    table.count_labels = count_labels;
    table.label_loss = label_loss;
    return table;
}

}  // namespace

const Table& cuda_table() {
    static constexpr Table table = with_mixing(with_bf16(with_labels({
        .name = "cuda",
        .spmm = spmm,
        .spmm_max = spmm_max,
        .spmm_max_back = spmm_max_back,
        .attend = attend,
        .attend_back = attend_back,
        .head_dot = head_dot,
        .head_squares = head_squares,
        .head_spread = head_spread,
        .head_fold = head_fold,
        .head_mean = head_mean,
        .head_share = head_share,
        .head_unit = head_unit,
        .head_unit_back = head_unit_back,
        .edge_dot = edge_dot,
        .edge_totals = edge_totals,
        .edge_softmax = edge_softmax,
        .edge_softmax_back = edge_softmax_back,
        .gemm = gemm,
        .add = add,
        .add_squares = add_squares,
        .add_scaled = add_scaled,
        .blend = blend,
        .dot = dot,
        .activate = activate,
        .activation_gradient = activation_gradient,
        .dropout = dropout,
        .positive_mask = positive_mask,
        .apply_mask = apply_mask,
        .softmax_cross_entropy = softmax_cross_entropy,
        .softmax_parts = softmax_parts,
        .softmax_totals = softmax_totals,
        .softmax_gradient = softmax_gradient,
        .count_correct = count_correct,
        .cross_entropy = cross_entropy,
        .norm_moment = norm_moment,
        .norm_rows = norm_rows,
        .norm_sums = norm_sums,
        .norm_back = norm_back,
        .norm_rows_back = norm_rows_back,
        .batch_moments = batch_moments,
        .batch_finish = batch_finish,
        .batch_known = batch_known,
        .batch_scale = batch_scale,
        .batch_sums = batch_sums,
        .batch_back = batch_back,
        .column_sum = column_sum,
        .update = update,
        .divide = divide,
        .copy = copy,
        .gather_rows = gather_rows,
        .add_rows = add_rows,
        .scale_rows = scale_rows,
        .zero = zero,
        .copy_bits = copy_bits,
    })));
    return table;
}

int oldest_gpu() { return std::min({__CUDA_ARCH_LIST__}) / 10; }

}  // namespace gnnplan::kernels::cuda
