#include <algorithm>

#include "kernels/cpu/cpu.hpp"
#include "kernels/parallel.hpp"

namespace gnnplan::kernels {
namespace {

constexpr Table table = {
    .name = "cpu",
    .spmm = cpu::spmm,
    .spmm_max = cpu::spmm_max,
    .spmm_max_back = cpu::spmm_max_back,
    .attend = cpu::attend,
    .attend_back = cpu::attend_back,
    .head_dot = cpu::head_dot,
    .head_squares = cpu::head_squares,
    .head_spread = cpu::head_spread,
    .head_fold = cpu::head_fold,
    .head_mean = cpu::head_mean,
    .head_share = cpu::head_share,
    .head_unit = cpu::head_unit,
    .head_unit_back = cpu::head_unit_back,
    .edge_dot = cpu::edge_dot,
    .edge_totals = cpu::edge_totals,
    .edge_softmax = cpu::edge_softmax,
    .edge_softmax_back = cpu::edge_softmax_back,
    .gemm = cpu::gemm,
    .gemm_then = cpu::gemm_then,
    .add = cpu::add,
    .add_squares = cpu::add_squares,
    .add_scaled = cpu::add_scaled,
    .blend = cpu::blend,
    .scale = cpu::scale,
    .add_identity = cpu::add_identity,
    .dot = cpu::dot,
    .activate = cpu::activate,
    .activation_gradient = cpu::activation_gradient,
    .dropout = cpu::dropout,
    .positive_mask = cpu::positive_mask,
    .apply_mask = cpu::apply_mask,
    .softmax_cross_entropy = cpu::softmax_cross_entropy,
    .softmax_parts = cpu::softmax_parts,
    .softmax_totals = cpu::softmax_totals,
    .softmax_gradient = cpu::softmax_gradient,
    .count_correct = cpu::count_correct,
    .cross_entropy = cpu::cross_entropy,
    .sigmoid_cross_entropy = cpu::sigmoid_cross_entropy,
    .count_labels = cpu::count_labels,
    .label_loss = cpu::label_loss,
    .rank_sums = cpu::rank_sums,
    .norm_moment = cpu::norm_moment,
    .norm_rows = cpu::norm_rows,
    .norm_sums = cpu::norm_sums,
    .norm_back = cpu::norm_back,
    .norm_rows_back = cpu::norm_rows_back,
    .batch_moments = cpu::batch_moments,
    .batch_finish = cpu::batch_finish,
    .batch_known = cpu::batch_known,
    .batch_scale = cpu::batch_scale,
    .batch_sums = cpu::batch_sums,
    .batch_back = cpu::batch_back,
    .column_sum = cpu::column_sum,
    .update = cpu::update,
    .divide = cpu::divide,
    .copy = cpu::copy,
    .gather_rows = cpu::gather_rows,
    .add_rows = cpu::add_rows,
    .narrow = cpu::narrow,
    .widen = cpu::widen,
    .gather_rows_narrow = cpu::gather_rows_narrow,
    .gather_rows_bf16 = cpu::gather_rows_bf16,
    .add_widened = cpu::add_widened,
    .add_rows_widened = cpu::add_rows_widened,
    .scale_rows = cpu::scale_rows,
    .zero = cpu::zero,
    .copy_bits = cpu::copy_bits,
};

}  // namespace

const Table& cpu_table() { return table; }

}  // namespace gnnplan::kernels
