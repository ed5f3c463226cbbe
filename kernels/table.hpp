// The kernel table: every operation the executor runs, documented once. Each backend fills one table.
// All functions compute on local blocks, never communicate, and throw nothing. They read their inputs from memory and
// write their results to memory, so that a device may queue them. Outputs do not alias inputs unless said. Any
// dimension may be 0. Same input, thread count and machine: the same bits.
#pragma once

#include "kernels/attention.hpp"
#include "kernels/bf16.hpp"
#include "kernels/labels.hpp"
#include "kernels/norm.hpp"
#include "kernels/random.hpp"
#include "kernels/views.hpp"

#include <gnnplan/base/activation.hpp>
#include <gnnplan/base/optimiser.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

namespace gnnplan::kernels {

enum class Transpose : bool { no, yes };

// The split whose rows train; rows of other splits have other numbers.
inline constexpr std::uint8_t training_split = 0;

// Softmax cross-entropy over the training vertices of a row block.
struct LossInput {
    const std::int32_t* label = nullptr;  // per local row, a class of all of them; -1 where unlabelled
    const std::uint8_t* split = nullptr;  // per local row; where it is training_split, the label is not -1
    double inverse_training_count = 0;    // 1 / |T| over the whole graph
    std::int64_t first_column = 0;        // the class of the first local column of the logits
    const float* weight = nullptr;        // per local row, by how much it counts; null: by 1
};

// 1 / |T|, times the weight of a row.
inline double gradient_scale(const LossInput& input, std::int64_t row) {
    return input.weight == nullptr ? input.inverse_training_count
                                   : input.inverse_training_count * static_cast<double>(input.weight[row]);
}
inline double weight_of(const LossInput& input, std::int64_t row) {
    return input.weight == nullptr ? 1 : static_cast<double>(input.weight[row]);
}

// The softmax of some columns of a row of logits, in part: the largest logit z, and the sum of exp(z - largest) over
// the others, which may be too small to change the largest one's 1 when added to it. Without columns: -infinity and 0.
struct SoftmaxPart {
    float largest = -std::numeric_limits<float>::infinity();
    float others = 0;
};

// Where a product copies the rows of its dense operand that one panel meets, a slice of columns at a time, so that they
// lie well in memory: PackedPanel (ir/packed_panel.hpp) says how and how many bytes that takes, 64-byte aligned.
// Panels then cut the columns of the matrix as balanced_block does. In fp32 the result has the same bits as without,
// and with no memory nothing is copied. In bf16 the operand is rounded to bfloat16 (to nearest, ties to even) and sums
// are of floats; there is memory then.
struct PanelRoom {
    std::span<std::byte> memory{};
    bool bf16 = false;
    std::int64_t slice_columns = 0;  // PackedPanel::stride: columns of a slice, and elements that a copied row may take
};

struct UpdateSettings {
    float learning_rate = 0.01F;
    float momentum = 0;                // of Optimiser::momentum
    AdamRates adam{};                  // of adam and adamw
    float rms_decay = 0.99F;           // of the mean of squares of rmsprop
    float epsilon = 1e-8F;             // of these three
    const PassValues* pass = nullptr;  // not null
    float weight_decay = 0;            // L2: added to the gradient as weight_decay * w; of adamw: w loses lr times this
};

// Two numbers for each row of a matrix: the largest of beta * score over its entries, and the sum of exp(beta * score -
// largest); 0 and 0 of no entries.
struct EdgeTotals {
    float* largest = nullptr;
    float* total = nullptr;
};

// The gradient of scores from that of weights. Scores, weights and `gradient` have an element for each entry, inner and
// of_beta for each row.
struct EdgeSoftmaxBack {
    const float* scores = nullptr;
    const float* weights = nullptr;
    const float* inner = nullptr;
    const float* beta = nullptr;
    float* gradient = nullptr;
    float* of_beta = nullptr;
};

// Operands of Table::head_unit_back.
struct UnitBackOperands {
    ConstMatrix gradient{}, unit{}, inner{}, squares{};
};

// Told of rows first .. last - 1 of a result.
using RowsMade = std::function<void(std::int64_t first, std::int64_t last)>;

struct Table {
    const char* name;

    // c = a * b, or c += a * b. a is m x k, with or without values, in any number of panels; b is k x n, c is m x n.
    void (*spmm)(const Csr& a, ConstMatrix b, Matrix c, bool accumulate, PanelRoom room);

    // The largest neighbour, elementwise: maxima(i, j) = the largest b(u, j) over the entries (i, u) of a, whose values
    // are not read, and ties(i, j) = how many of them equal it; both are 0 in rows without entries. With `accumulate`
    // the maximum is over what the two hold, too: a greater one replaces it and its ties, an equal one adds its ties,
    // and ties of 0 say that nothing was there. A NaN is never the largest. `memory` is PanelRoom::memory of floats.
    // The shapes of a, b and both results are those of spmm.
    void (*spmm_max)(const Csr& a, ConstMatrix b, Matrix maxima, Matrix ties, bool accumulate,
                     std::span<std::byte> memory);

    // The gradient of a maximum over neighbours: c(u, j) = the sum of gradient(v, j) over the entries (u, v) of a,
    // whose values are not read, where own(u, j) equals maxima(v, j); with `accumulate` it is added to c. a is m x k,
    // `gradient` and `maxima` are k x n, `own` and c m x n.
    void (*spmm_max_back)(const Csr& a, ConstMatrix gradient, ConstMatrix maxima, ConstMatrix own, Matrix c,
                          bool accumulate);

    // The sums of attention and what a backward pass needs of them, from all entries of a row, whose values are not
    // read. Row e of scores is of the entry whose column is a.column[e], here and in attend_back. A call may know some
    // of the entries only: with `accumulate` the results hold what earlier calls have left of the same rows, and until
    // the call with `last` they are no more than that. Sums and totals then are of exp(e - largest) in place of alpha,
    // log_total holds the largest e so far, by_target the part of the sum whose s + t is not positive and
    // negative_share its part of the total; a total of 0 says that there was no entry yet. Rows without entries end
    // with zeros everywhere.
    void (*attend)(const Csr& a, const AttendOperands& in, const AttendResults& to, const Attention& how,
                   bool accumulate, bool last);

    // The gradients of sources; with `accumulate` it is added to the results. The values of a are not read.
    void (*attend_back)(const Csr& a, const AttendBackOperands& in, const AttendBackResults& to, const Attention& how,
                        bool accumulate);

    // out(i, k) = the sum of x(i, j) * y(i, j) over the columns j of head k, 0 where it has none. A stride of 0 repeats
    // one row of y.
    void (*head_dot)(ConstMatrix x, ConstMatrix y, Heads heads, Matrix out);

    // out(i, k) = the sum of the squares of x(i, j) over the columns j of head k, a SquareSum; 0 where it has none.
    void (*head_squares)(ConstMatrix x, Heads heads, Matrix out);

    // x(i, j) += by(i, k) * y(i, j) for each column j, of head k. A stride of 0 repeats one row of y.
    void (*head_spread)(ConstMatrix by, ConstMatrix y, Heads heads, Matrix x);

    // out[j] = the sum of x(i, j) * by(i, k) over all rows, j being of head k.
    void (*head_fold)(ConstMatrix x, ConstMatrix by, Heads heads, float* out);

    // out(i, j) = the mean of x(i, k * out.columns + j) over all heads k; x has whole heads.
    void (*head_mean)(ConstMatrix x, Matrix out);

    // The gradient of the mean: out(i, k * g.columns + j) = g(i, j) / heads.
    void (*head_share)(ConstMatrix g, Matrix out);

    // out(i, j) = x(i, j) / the length of its row and head, which `squares` holds as SquareSums; 0 where that is 0.
    void (*head_unit)(ConstMatrix x, ConstMatrix squares, Heads heads, Matrix out);

    // Gradient of head_unit: x(i, j) += (gradient(i, j) - inner(i, k) * unit(i, j)) / the length, where that is not 0.
    void (*head_unit_back)(const UnitBackOperands& in, Heads heads, Matrix x);

    // Below, element e of scores, weights and gradients is of the entry whose column is a.column[e]; the values of a
    // are not read.

    // scores[e] = <y(i), x(u)> for the entries e = (i, u).
    void (*edge_dot)(const Csr& a, ConstMatrix x, ConstMatrix y, float* scores);

    // With `accumulate` the totals are over what they hold, too.
    void (*edge_totals)(const Csr& a, const float* scores, const float* beta, EdgeTotals to, bool accumulate);

    // weights[e] = exp(beta * scores[e] - largest) / total, of e's row.
    void (*edge_softmax)(const Csr& a, const float* scores, const float* beta, EdgeTotals of, float* weights);

    // gradient[e], of the weights, becomes that of the scores: beta * d with d = weights[e] * (gradient[e] - inner).
    // of_beta = the sums of d * scores[e] over rows; with `accumulate` they are added to it.
    void (*edge_softmax_back)(const Csr& a, const EdgeSoftmaxBack& back, bool accumulate);

    // c = op(a) * op(b), or c += op(a) * op(b). Takes scratch memory for op(b), and for one c per thread where it sums
    // over more than c has rows.
    void (*gemm)(Transpose transpose_a, Transpose transpose_b, ConstMatrix a, ConstMatrix b, Matrix c, bool accumulate);

    // c = a * op(b), and then(first, last) for ranges of its rows, each once, by the thread that has just made them:
    // they are in its caches. Ranges begin at multiples of eight rows, and calls do not throw. Null where a backend's
    // kernels run elsewhere than their caller, or go through one product after the other.
    void (*gemm_then)(Transpose transpose_b, ConstMatrix a, ConstMatrix b, Matrix c, const RowsMade& then) = nullptr;

    // c += a; same shape.
    void (*add)(ConstMatrix a, Matrix c);

    // c = a + b; same shape, other places in memory.
    void (*sum)(ConstMatrix a, ConstMatrix b, Matrix c) = nullptr;

    // c += a for sums of squares: both hold SquareSums, as float32.
    void (*add_squares)(ConstMatrix a, Matrix c);

    // c += (scale + *more) * a; same shape. `more` may be null, for 0.
    void (*add_scaled)(float scale, const float* more, ConstMatrix a, Matrix c);

    // c = (1 - share) * c + share * a; same shape.
    void (*blend)(float share, ConstMatrix a, Matrix c);

    // c = factor * a; same shape, or the same matrix.
    void (*scale)(float factor, ConstMatrix a, Matrix c) = nullptr;

    // c(i, i) += factor, of a square matrix.
    void (*add_identity)(float factor, Matrix c) = nullptr;

    // *sum = the sum of a(i, j) * b(i, j); same shape.
    void (*dot)(ConstMatrix a, ConstMatrix b, float* sum);

    // In place: z = dropout(activation(z + bias)). `bias` (length columns) may be null; the dropout is optional
    // (probability 0 draws nothing). Where `bits` is not null it receives positive_mask of the result in the same pass.
    void (*activate)(Matrix z, const float* bias, Activation activation, const DropoutKey& dropout, std::uint8_t* bits);

    // In place: g, the gradient of what `activate` made with this activation and dropout, which is `h`, becomes that of
    // z + bias: it is multiplied by the activation's slope there and by what dropout multiplied with. `h` is null, and
    // has no size, where there is no activation. The slope at 0 is that of negative numbers.
    void (*activation_gradient)(Matrix g, ConstMatrix h, Activation activation, const DropoutKey& dropout);

    // out = dropout(in); same shape.
    void (*dropout)(ConstMatrix in, Matrix out, const DropoutKey& key);

    // Bit i * columns + j of `bits` = h(i, j) > 0, least significant bit first; trailing bits of the last byte are 0.
    void (*positive_mask)(ConstMatrix h, std::uint8_t* bits);

    // In place: g(i, j) = bit(i * columns + j) ? g(i, j) * scale : 0.
    void (*apply_mask)(Matrix g, const std::uint8_t* bits, float scale);

    // In place: replaces the logits, of all classes, by the gradient of the mean cross-entropy, (softmax - onehot) *
    // inverse_training_count on training rows and 0 elsewhere. *loss = the sum of the cross-entropies of the local
    // training rows (not divided). Both times the weight of the row, where rows have any.
    void (*softmax_cross_entropy)(Matrix logits, const LossInput& input, double* loss);

    // The same where a rank has some columns of the classes only, in three calls. First parts[i] of every row's local
    // columns, which is that of no columns where a row does not train.
    void (*softmax_parts)(ConstMatrix logits, const std::uint8_t* split, SoftmaxPart* parts);

    // totals[i] = what is known of row i from all of `ranks` parts, part r of which is parts[r * rows + i]. `totals`
    // may be `parts`.
    void (*softmax_totals)(const SoftmaxPart* parts, std::int64_t rows, std::int64_t ranks, SoftmaxPart* totals);

    // In place: the gradient, given the totals. *loss = the sum of the cross-entropies of the training rows whose label
    // is one of the local columns, times their weights.
    void (*softmax_gradient)(Matrix logits, const LossInput& input, const SoftmaxPart* totals, double* loss);

    // correct[s] = number of local rows of split s (split[i] == s, 0 <= s < 3) whose arg max (first wins) is label[i]
    // >= 0.
    void (*count_correct)(ConstMatrix logits, const std::int32_t* label, const std::uint8_t* split, double correct[3]);

    // *loss = the sum of the cross-entropies of local rows of split `of` that have a label >= 0.
    void (*cross_entropy)(ConstMatrix logits, const std::int32_t* label, const std::uint8_t* split, std::uint8_t of,
                          double* loss);

    // In place: replaces the logits by the gradient of the mean of all known labels' losses, (sigmoid(z) - y) *
    // inverse_training_count on training rows where the label y is known, and 0 elsewhere. *loss = the sum of max(z, 0)
    // - z * y + log(1 + exp(-|z|)) over these, not divided. Both times the weight of the row, where rows have any.
    void (*sigmoid_cross_entropy)(Matrix logits, const SigmoidInput& input, double* loss) = nullptr;

    // counts[3 * s], [3 * s + 1] and [3 * s + 2] = the numbers of known labels in local rows of split s, 0 <= s < 3,
    // that are there and found, are found and not there, and are there and not found. A logit above 0 finds one.
    void (*count_labels)(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split,
                         double counts[9]) = nullptr;

    // *loss = the sum of the losses, as sigmoid_cross_entropy's, of known labels in local rows of split `of`.
    void (*label_loss)(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split, std::uint8_t of,
                       double* loss) = nullptr;

    // The sums of which ROC-AUC is made, of whole columns. sums(3 * s, j) = the number of rows of split s, 0 <= s < 3,
    // that have label j, sums(3 * s + 1, j) = that of rows which are known not to have it, and sums(3 * s + 2, j) =
    // twice the sum of the ranks of those that have it, from 1 among both by their logits, where equal ones share the
    // mean of their ranks. That is a whole number, or a NaN where a logit is one. `order` has room for an element of
    // each logit. Null where a backend cannot.
    void (*rank_sums)(ConstMatrix logits, const LabelBits& labels, const std::uint8_t* split, std::uint64_t* order,
                      Dense<double> sums) = nullptr;

    // Layer normalisation. Sums over columns times `share`: out[i] = of z(i, j), or of (z(i, j) - centre[i])^2.
    void (*norm_moment)(ConstMatrix z, const float* centre, double share, float* out);

    // out(i, j) = x(i, j) * weight[j] + bias[j]. If the rows are `whole`, their means and variances are made first.
    void (*norm_rows)(const NormedRows& of, const float* bias, bool whole, Matrix out);

    // sums(i, 0) = the share of the sum of g(i, j) * weight[j] over columns, and sums(i, 1) that of g(i, j) * weight[j]
    // * x(i, j); of_weight[j] = the sum of g(i, j) * x(i, j) over rows, and of_bias[j] that of g(i, j).
    void (*norm_sums)(const NormedRows& of, ConstMatrix g, Matrix sums, float* of_weight, float* of_bias);

    // In place: g, the gradient of the result, becomes that of z, given what norm_sums makes of whole rows.
    void (*norm_back)(const NormedRows& of, ConstMatrix sums, Matrix g);

    // Both of whole rows. Takes scratch memory.
    void (*norm_rows_back)(const NormedRows& of, Matrix g, float* of_weight, float* of_bias);

    // Batch normalisation. sum[j] = the sum of z(i, j) over rows, and squares[j] that of its squares.
    void (*batch_moments)(ConstMatrix z, double* sum, double* squares);

    // Means and inverse deviations of all columns: of these rows, which running values move towards, or the running
    // values themselves.
    void (*batch_finish)(const ColumnMoments& of, float* mean, float* inverse, float* running_mean,
                         float* running_variance);
    void (*batch_known)(const float* running_mean, const float* running_variance, std::int64_t columns, float* mean,
                        float* inverse);

    // out(i, j) = x(i, j) * weight[j] + bias[j].
    void (*batch_scale)(const NormedColumns& of, const float* bias, Matrix out);

    // along[j] = the sum of g(i, j) * x(i, j) over rows, and plain[j] that of g(i, j).
    void (*batch_sums)(const NormedColumns& of, ConstMatrix g, float* along, float* plain);

    // In place: g, the gradient of the result, becomes that of z, given the sums over the rows of all ranks, of which
    // one is `share` of all: 1 / N.
    void (*batch_back)(const NormedColumns& of, const float* along, const float* plain, double share, Matrix g);

    // out[j] = sum over rows of g(i, j).
    void (*column_sum)(ConstMatrix g, float* out);

    // One step of the optimiser (gnnplan/base/optimiser.hpp), in place on w and what the rule remembers, m1 and m2, of
    // `count` elements. Null: the rule does not remember so much.
    void (*update)(Optimiser rule, float* w, const float* gradient, float* m1, float* m2, std::int64_t count,
                   const UpdateSettings& settings);

    // In place: g(i, j) = g(i, j) / by(i, j), or 0 where by(i, j) is 0.
    void (*divide)(Matrix g, ConstMatrix by);

    // out(i, j) = in(i, j): a strided 2-D copy (packing and unpacking of redistributions).
    void (*copy)(ConstMatrix in, Matrix out);

    // out(i, j) = in(index[i], j): rows that others need, packed.
    void (*gather_rows)(ConstMatrix in, const std::int32_t* index, Matrix out);
    // out(index[i] - first, j) += in(i, j): rows that others have summands of, no two of which are the same.
    void (*add_rows)(ConstMatrix in, const std::int32_t* index, std::int64_t first, Matrix out);

    // Ranks may send each other numbers in bfloat16. They are rounded to nearest, ties to even, denormal ones as
    // others; a number beyond the largest becomes infinite, and any NaN becomes the one with the bits 0x7fc0.

    // out(i, j) = in(i, j), rounded: a strided 2-D copy.
    void (*narrow)(ConstMatrix in, Dense<Bf16> out) = nullptr;
    // out(i, j) = in(i, j), the same number: a strided 2-D copy.
    void (*widen)(Dense<const Bf16> in, Matrix out) = nullptr;
    // out(i, j) = in(index[i], j), rounded.
    void (*gather_rows_narrow)(ConstMatrix in, const std::int32_t* index, Dense<Bf16> out) = nullptr;
    // out(i, j) = in(index[i], j): rounded rows that are passed on.
    void (*gather_rows_bf16)(Dense<const Bf16> in, const std::int32_t* index, Dense<Bf16> out) = nullptr;
    // out(i, j) += in(i, j); same shape.
    void (*add_widened)(Dense<const Bf16> in, Matrix out) = nullptr;
    // out(index[i] - first, j) += in(i, j), no two rows being the same.
    void (*add_rows_widened)(Dense<const Bf16> in, const std::int32_t* index, std::int64_t first, Matrix out) = nullptr;

    // In place: row index[i], or i where there is no index, times factor[i]; rows are cleared where there are no
    // factors. No two of the `count` rows are the same.
    void (*scale_rows)(const std::int32_t* index, const float* factor, std::int64_t count, Matrix rows);

    // All bits 0.
    void (*zero)(std::span<std::byte> memory);

    // Bit-matrix block copy. The source is a packed rows x source_columns bit matrix, of which the block starting at
    // (source_row, source_column) of rows x columns is written at (target_row, target_column) of a packed matrix with
    // target_columns columns. Target bits outside the block keep their values.
    void (*copy_bits)(const std::uint8_t* source, std::int64_t source_columns, std::int64_t source_row,
                      std::int64_t source_column, std::uint8_t* target, std::int64_t target_columns,
                      std::int64_t target_row, std::int64_t target_column, std::int64_t rows, std::int64_t columns);
};

const Table& reference_table();  // plain loops, the oracle
const Table& cpu_table();        // OpenMP, and the widest vectors that the CPU has

// Threads that each CPU kernel called from the calling thread may use, GEMM included; below 1 counts as 1, and without
// OpenMP it is always 1. Call it once from each rank's thread: the number is the calling thread's own, so ranks that
// share a process do not disturb each other. Ranks times threads should not exceed the cores.
void set_threads(int threads);

}  // namespace gnnplan::kernels
