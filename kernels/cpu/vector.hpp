// The inner loops of the CPU backend, compiled once per instruction set and chosen at run time, so that one binary uses
// what the CPU has. They are serial; the threads are split outside.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/bf16.hpp"
#include "kernels/stream.hpp"
#include "kernels/table.hpp"

namespace gnnplan::kernels::cpu {

// Dropout draws are made for at most this many columns (64 groups of 8) of one row at a time.
inline constexpr std::int64_t draw_columns = 512;

// Global rows of consecutive rows of a block.
struct DrawRows {
    std::int64_t first = 0;
    const std::int32_t* ids = nullptr;  // null: first + r
};

// How a computed row is stored: written, written past the caches where the target and the alignment allow, or
// combined with what is there (added to a sum).
enum class Store : std::uint8_t { write, nontemporal, add };

// Memory that is read after a block of a product.
struct Ahead {
    const float* from = nullptr;
    std::int64_t count = 0;
};

// Heads that the kernels of attention take at a time.
inline constexpr std::int64_t attend_heads = 64;

// AttentionDropout as draws are compared: those of an edge are of row `target` and of `groups` groups for each source.
struct WeightDropout {
    StreamKey key{};
    std::uint32_t threshold = 0;
    float scale = 0;  // of weights that survive; 0: nothing is dropped
    std::int64_t groups = 1;
    std::int64_t first_head = 0;
    const std::int32_t* row_ids = nullptr;
    const std::int32_t* column_ids = nullptr;
};

// The work of Table::attend and Table::attend_back at a time, a in one panel: at most attend_heads heads, and all
// of their columns.
struct AttendBlock {
    Csr a{};
    AttendOperands in{};
    AttendResults to{};
    const std::int32_t* head_of = nullptr;  // the head of each column
    float slope = 0;
    WeightDropout dropout{};
    bool accumulate = false;
    bool last = false;
    bool streams = false;  // results are out of cache before anybody reads them, and may be written past it
};
struct AttendBackBlock {
    Csr a{};
    AttendBackOperands in{};
    AttendBackResults to{};
    Heads heads{};
    const std::int32_t* head_of = nullptr;
    float slope = 0;
    WeightDropout dropout{};
    bool accumulate = false;
};

// A block of a dense product: c = op(a) * b, or c += op(a) * b. No dimension is 0.
struct GemmBlock {
    Transpose transpose_a = Transpose::no;
    ConstMatrix a{};
    ConstMatrix b{};                // read where it is as far as it has whole panels of gemm_panel columns; or null
    const float* packed = nullptr;  // the other columns, by gemm_pack
    std::int64_t inner = 0;
    Matrix c{};
    bool accumulate = false;
    Ahead ahead{}, then{};  // fetched into the cache on the way, one after the other
};

// A row of NormedRows, with inverse = 1 / sqrt(variance + norm_epsilon), and two sums over its columns.
struct NormRow {
    const float* z = nullptr;
    std::int64_t columns = 0;
    const float* weight = nullptr;
    float mean = 0;
    float inverse = 0;
};
struct NormSums {
    float plain = 0, along = 0;
};

// The sum of z[j] for j < n, or of (z[j] - *centre)^2; rows of Table::norm_rows, Table::norm_sums (the sums themselves,
// and doubles that are added to) and Table::norm_back.
struct NormKernels {
    float (*moment_row)(const float* z, std::int64_t n, const float* centre);
    void (*scale_row)(const NormRow& row, const float* bias, float* out);
    NormSums (*sums_row)(const NormRow& row, const float* g, double* of_weight, double* of_bias);
    void (*back_row)(const NormRow& row, NormSums means, float* g);
};

// Rows i of Table::batch_moments and Table::batch_sums, which add to doubles, of Table::batch_scale and
// Table::batch_back.
struct BatchNormKernels {
    void (*moments_row)(const float* z, std::int64_t n, double* sum, double* squares);
    void (*scale_row)(const NormedColumns& of, std::int64_t i, const float* bias, float* out);
    void (*sums_row)(const NormedColumns& of, std::int64_t i, const float* g, double* along, double* plain);
    // g[j] = (g[j] - plain[j] - x * along[j]) * weight[j] * inverse[j], the two being means.
    void (*back_row)(const NormedColumns& of, std::int64_t i, const float* along, const float* plain, float* g);
};

// These kernels compute the losses of one row of logits.
struct LossKernels {
    // One training row of Table::softmax_cross_entropy; returns its cross-entropy. n > 0.
    double (*softmax_row)(float* z, std::int64_t n, std::int64_t label, double inverse_training_count);

    // Table::softmax_parts of one row.
    SoftmaxPart (*softmax_part)(const float* z, std::int64_t n);

    // z[j] = exp(z[j] - largest) * scale for j < n; no z is above `largest`.
    void (*scaled_exponentials)(float* z, std::int64_t n, float largest, float scale);

    // The sum of Table::sigmoid_cross_entropy's losses of a row's known labels, whose bits begin at `first_bit`.
    // `gradient` may be null, or z itself: it gets the gradient of each, times `scale`.
    double (*label_row)(const float* z, std::int64_t n, const LabelBits& labels, std::int64_t first_bit, float scale,
                        float* gradient);
};

struct VectorKernels {
    const char* name;

    // Rows first .. last - 1 of Table::spmm, a in one panel; b in floats, or in bfloat16.
    void (*spmm_rows)(const Csr& a, ConstMatrix b, Matrix c, Store store, std::int64_t first, std::int64_t last);
    void (*spmm_rows_bf16)(const Csr& a, Dense<const Bf16> b, Matrix c, Store store, std::int64_t first,
                           std::int64_t last);

    // Rows first .. last - 1 of Table::spmm_max and Table::spmm_max_back, a in one panel.
    void (*spmm_max_rows)(const Csr& a, ConstMatrix b, Matrix maxima, Matrix ties, Store store, std::int64_t first,
                          std::int64_t last);
    void (*spmm_max_back_rows)(const Csr& a, ConstMatrix gradient, ConstMatrix maxima, ConstMatrix own, Matrix c,
                               Store store, std::int64_t first, std::int64_t last);

    // Rows first .. last - 1.
    void (*attend_rows)(const AttendBlock& block, std::int64_t first, std::int64_t last);
    void (*attend_back_rows)(const AttendBackBlock& block, std::int64_t first, std::int64_t last);

    // One row of Table::head_dot, Table::head_squares and Table::head_spread, of n columns and `count` heads.
    void (*head_dot_row)(const float* x, const float* y, std::int64_t n, Heads heads, std::int64_t count, float* out);
    void (*head_squares_row)(const float* x, std::int64_t n, Heads heads, std::int64_t count, float* out);
    void (*head_spread_row)(const float* by, const float* y, std::int64_t n, Heads heads, float* x);

    // sum[j] += x[j] * by[head of column j] for j < n.
    void (*head_fold_row)(const float* x, const float* by, std::int64_t n, Heads heads, double* sum);

    // Rows first .. last - 1 of Table::edge_dot and of the three steps of a softmax, a in one panel.
    void (*edge_dot_rows)(const Csr& a, ConstMatrix x, ConstMatrix y, float* scores, std::int64_t first,
                          std::int64_t last);
    void (*edge_totals_rows)(const Csr& a, const float* scores, float beta, EdgeTotals to, bool accumulate,
                             std::int64_t first, std::int64_t last);
    void (*edge_softmax_rows)(const Csr& a, const float* scores, float beta, EdgeTotals of, float* weights,
                              std::int64_t first, std::int64_t last);
    void (*edge_softmax_back_rows)(const Csr& a, const EdgeSoftmaxBack& back, float beta, bool accumulate,
                                   std::int64_t first, std::int64_t last);

    // One row of Table::head_unit and Table::head_unit_back, of n columns.
    void (*head_unit_row)(const float* x, const float* squares, std::int64_t n, Heads heads, float* out);
    void (*head_unit_back_row)(const float* gradient, const float* unit, const float* inner, const float* squares,
                               std::int64_t n, Heads heads, float* x);

    NormKernels norm;
    BatchNormKernels batch_norm;

    // to[j] = from[j] rounded to nearest, ties to even, for j < n; NaNs stay NaNs.
    void (*to_bf16)(const float* from, Bf16* to, std::int64_t n);
    // to[j] = from[j], and to[j] += from[j].
    void (*from_bf16)(const Bf16* from, float* to, std::int64_t n);
    void (*add_bf16)(const Bf16* from, float* to, std::int64_t n);

    void (*gemm_rows)(const GemmBlock& block);
    std::int64_t gemm_panel;  // columns of b that a tile takes

    // op(b), inner x columns, as gemm_rows reads it: inner times the columns rounded up to 16 floats.
    void (*gemm_pack)(Transpose transpose_b, ConstMatrix b, float* packed);

    // z(i, j) = activation(z(i, j) + bias[j]); `bias` may be null.
    void (*activate_rows)(Matrix z, const float* bias, Activation activation);

    // g(i, j) *= the slope of the activation that made h(i, j) / kept.
    void (*activation_slopes)(Matrix g, ConstMatrix h, Activation activation, float kept);

    // Table::divide.
    void (*divide_rows)(Matrix g, ConstMatrix by);

    // The draws of `row_count` rows and of `groups` groups from `group` on (row_count * groups <= draw_columns / 8):
    // draws[(r * groups + g) * 8 + lane], see kernels/stream.hpp. `draws` has room for draw_columns.
    void (*dropout_draws)(StreamKey key, DrawRows rows, std::int64_t row_count, std::int64_t group, std::int64_t groups,
                          std::uint16_t* draws);

    // out(i, j) = draws[i * row_draws + j] >= threshold ? in(i, j) * scale : 0; `out` may be `in`.
    void (*drop_rows)(ConstMatrix in, Matrix out, const std::uint16_t* draws, std::int64_t row_draws,
                      std::uint32_t threshold, float scale);

    // Bit j of `bits` = h[j] > 0 for j < n; the trailing bits of the last byte become 0.
    void (*pack_positive)(const float* h, std::int64_t n, std::uint8_t* bits);

    // g[j] = bit(first_bit + j) ? g[j] * scale : 0 for j < n; reads no byte without a bit of the range.
    void (*apply_bits)(float* g, std::int64_t n, const std::uint8_t* bits, std::int64_t first_bit, float scale);

    LossKernels losses;

    // sum[j] += g[j] for j < n.
    void (*add_to)(const float* g, std::int64_t n, double* sum);

    // The sum of a[j] * b[j] for j < n.
    double (*dot_row)(const float* a, const float* b, std::int64_t n);

    // Table::update.
    void (*update)(Optimiser rule, float* w, const float* gradient, float* m1, float* m2, std::int64_t n,
                   const UpdateSettings& settings);
};

const VectorKernels& baseline_kernels();  // what every CPU of the architecture has
const VectorKernels& avx2_kernels();      // AVX2 and FMA; x86-64 only
const VectorKernels& avx512_kernels();    // AVX-512 F, BW, DQ, VL; x86-64 only

// Those that this CPU runs, slowest first; never empty.
std::span<const VectorKernels* const> supported_kernels();

// The last of supported_kernels().
const VectorKernels& best_kernels();

}  // namespace gnnplan::kernels::cpu
