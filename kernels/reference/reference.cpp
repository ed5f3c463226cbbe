#include "kernels/reference/reference.hpp"
#include "kernels/look.hpp"
#include "kernels/reference/attention.hpp"
#include "kernels/reference/batch_norm.hpp"
#include "kernels/reference/bf16.hpp"
#include "kernels/reference/edges.hpp"
#include "kernels/reference/labels.hpp"
#include "kernels/reference/norm.hpp"

#include <algorithm>
#include <vector>

namespace gnnplan::kernels {
namespace {

bool bit(const std::uint8_t* bits, std::int64_t at) { return (bits[at / 8] >> (at % 8) & 1) != 0; }

void apply_mask(Matrix g, const std::uint8_t* bits, float scale) {
    for (std::int64_t i = 0; i < g.rows; ++i) {
        for (std::int64_t j = 0; j < g.columns; ++j) {
            g.row(i)[j] = bit(bits, i * g.columns + j) ? g.row(i)[j] * scale : 0.0F;
        }
    }
}

// A matrix whose numbers are rounded.
struct Rounded {
    std::vector<float> numbers;
    ConstMatrix matrix;

    explicit Rounded(ConstMatrix b) {
        numbers.reserve(static_cast<std::size_t>(b.rows * b.columns));
        for (std::int64_t i = 0; i < b.rows; ++i) {
            for (std::int64_t j = 0; j < b.columns; ++j) numbers.push_back(reference::rounded(b.row(i)[j]));
        }
        matrix = {numbers.data(), b.rows, b.columns, b.columns};
    }
};

// One look, if any, after all of a sum.
void spmm(const Csr& a, ConstMatrix b, Matrix c, bool accumulate, PanelRoom room) {
    reference::spmm<float>(a, room.bf16 ? Rounded(b).matrix : b, c, accumulate);
    if (a.look != nullptr) a.look->after(2 * a.nonzeros() * c.columns);
}

void spmm_max(const Csr& a, ConstMatrix b, Matrix maxima, Matrix ties, bool accumulate, std::span<std::byte>) {
    reference::spmm_max<float>(a, b, maxima, ties, accumulate);
}

void gemm_then(Transpose transpose_b, ConstMatrix a, ConstMatrix b, Matrix c, const RowsMade& then) {
    reference::gemm<float>(Transpose::no, transpose_b, a, b, c, false);
    constexpr std::int64_t at_a_time = 8;
    for (std::int64_t i = 0; i < c.rows; i += at_a_time) then(i, std::min(i + at_a_time, c.rows));
}

// The total of one row, whose part r is part[r * rows].
SoftmaxPart total_of(const SoftmaxPart* part, std::int64_t rows, std::int64_t ranks) {
    SoftmaxPart total;
    for (std::int64_t r = 0; r < ranks; ++r) total.largest = std::max(total.largest, part[r * rows].largest);
    double sum = 0;
    bool found = false;
    for (std::int64_t r = 0; r < ranks; ++r) {
        const double largest = part[r * rows].largest, others = part[r * rows].others;
        if (std::isinf(largest) && others == 0) continue;
        const bool counts = found || part[r * rows].largest != total.largest;
        sum += counts ? (1 + others) * std::exp(largest - static_cast<double>(total.largest)) : others;
        found = found || !counts;
    }
    total.others = static_cast<float>(sum);
    return total;
}

void softmax_parts(ConstMatrix logits, const std::uint8_t* split, SoftmaxPart* parts) {
    for (std::int64_t i = 0; i < logits.rows; ++i) {
        parts[i] = {};
        if (split[i] != training_split || logits.columns == 0) continue;
        const float* z = logits.row(i);
        const float* largest = std::max_element(z, z + logits.columns);
        double sum = 0;
        for (const float* x = z; x != z + logits.columns; ++x)
            sum += x == largest ? std::exp(static_cast<double>(*x - *largest)) - 1
                                : std::exp(static_cast<double>(*x - *largest));
        parts[i] = {*largest, static_cast<float>(sum)};
    }
}

void softmax_totals(const SoftmaxPart* parts, std::int64_t rows, std::int64_t ranks, SoftmaxPart* totals) {
    for (std::int64_t i = 0; i < rows; ++i) totals[i] = total_of(parts + i, rows, ranks);
}

void softmax_gradient(Matrix logits, const LossInput& input, const SoftmaxPart* totals, double* loss) {
    *loss = 0;
    for (std::int64_t i = 0; i < logits.rows; ++i) {
        float* z = logits.row(i);
        const bool training = input.split[i] == training_split;
        const std::int64_t label = input.label[i] - input.first_column;
        const double largest = totals[i].largest;
        const double others = totals[i].others;
        if (training && label >= 0 && label < logits.columns)
            *loss += weight_of(input, i) * (std::log1p(others) - (z[label] - largest));
        for (std::int64_t j = 0; j < logits.columns; ++j) {
            const double below = z[j] - largest;
            const double target = j != label ? std::exp(below) : below == 0 ? -others : std::exp(below) - (1 + others);
            z[j] = training ? static_cast<float>(target / (1 + others) * gradient_scale(input, i)) : 0.0F;
        }
    }
}

void count_correct(ConstMatrix logits, const std::int32_t* label, const std::uint8_t* split, double correct[3]) {
    std::fill_n(correct, 3, 0.0);
    for (std::int64_t i = 0; i < logits.rows; ++i) {
        std::int64_t best = 0;
        for (std::int64_t j = 1; j < logits.columns; ++j) best = logits.row(i)[j] > logits.row(i)[best] ? j : best;
        if (split[i] < 3 && logits.columns > 0 && label[i] == best) correct[split[i]] += 1;
    }
}

void cross_entropy(ConstMatrix logits, const std::int32_t* label, const std::uint8_t* split, std::uint8_t of,
                   double* loss) {
    *loss = 0;
    for (std::int64_t i = 0; i < logits.rows; ++i) {
        if (split[i] != of || label[i] < 0) continue;
        const float* z = logits.row(i);
        const double largest = *std::max_element(z, z + logits.columns);
        double sum = 0;
        for (std::int64_t j = 0; j < logits.columns; ++j) sum += std::exp(z[j] - largest);
        *loss += std::log(sum) - (z[label[i]] - largest);
    }
}

void column_sum(ConstMatrix g, float* out) {
    for (std::int64_t j = 0; j < g.columns; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < g.rows; ++i) sum += g.row(i)[j];
        out[j] = static_cast<float>(sum);
    }
}

void copy(ConstMatrix in, Matrix out) {
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.columns; ++j) out.row(i)[j] = in.row(i)[j];
    }
}

void gather_rows(ConstMatrix in, const std::int32_t* index, Matrix out) {
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.columns; ++j) out.row(i)[j] = in.row(index[i])[j];
    }
}

void add_rows(ConstMatrix in, const std::int32_t* index, std::int64_t first, Matrix out) {
    for (std::int64_t i = 0; i < in.rows; ++i) {
        for (std::int64_t j = 0; j < in.columns; ++j) out.row(index[i] - first)[j] += in.row(i)[j];
    }
}

void scale_rows(const std::int32_t* index, const float* factor, std::int64_t count, Matrix rows) {
    for (std::int64_t i = 0; i < count; ++i) {
        float* const row = rows.row(index != nullptr ? index[i] : i);
        for (std::int64_t j = 0; j < rows.columns; ++j) row[j] = factor != nullptr ? row[j] * factor[i] : 0.0F;
    }
}

void zero(std::span<std::byte> memory) { std::fill(memory.begin(), memory.end(), std::byte{0}); }

void add(ConstMatrix a, Matrix c) {
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.columns; ++j) c.row(i)[j] += a.row(i)[j];
    }
}

void sum(ConstMatrix a, ConstMatrix b, Matrix c) {
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.columns; ++j) c.row(i)[j] = a.row(i)[j] + b.row(i)[j];
    }
}

void add_scaled(float scale, const float* more, ConstMatrix a, Matrix c) {
    if (more != nullptr) scale += *more;
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.columns; ++j) c.row(i)[j] += scale * a.row(i)[j];
    }
}

void blend(float share, ConstMatrix a, Matrix c) {
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.columns; ++j) c.row(i)[j] = (1 - share) * c.row(i)[j] + share * a.row(i)[j];
    }
}

void scale(float factor, ConstMatrix a, Matrix c) {
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.columns; ++j) c.row(i)[j] = factor * a.row(i)[j];
    }
}

void add_identity(float factor, Matrix c) {
    for (std::int64_t i = 0; i < c.rows; ++i) c.row(i)[i] += factor;
}

void dot(ConstMatrix a, ConstMatrix b, float* result) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < a.columns; ++j)
            sum += static_cast<double>(a.row(i)[j]) * static_cast<double>(b.row(i)[j]);
    }
    *result = static_cast<float>(sum);
}

void copy_bits(const std::uint8_t* source, std::int64_t source_columns, std::int64_t source_row,
               std::int64_t source_column, std::uint8_t* target, std::int64_t target_columns, std::int64_t target_row,
               std::int64_t target_column, std::int64_t rows, std::int64_t columns) {
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
            reference::set_bit(target, (target_row + i) * target_columns + target_column + j,
                               bit(source, (source_row + i) * source_columns + source_column + j));
        }
    }
}

constexpr Table table = reference::with_labels({
    .name = "reference",
    .spmm = spmm,
    .spmm_max = spmm_max,
    .spmm_max_back = reference::spmm_max_back<float>,
    .attend = reference::attend<float>,
    .attend_back = reference::attend_back<float>,
    .head_dot = reference::head_dot<float>,
    .head_squares = reference::head_squares,
    .head_spread = reference::head_spread<float>,
    .head_fold = reference::head_fold<float>,
    .head_mean = reference::head_mean<float>,
    .head_share = reference::head_share<float>,
    .head_unit = reference::head_unit,
    .head_unit_back = reference::head_unit_back,
    .edge_dot = reference::edge_dot,
    .edge_totals = reference::edge_totals,
    .edge_softmax = reference::edge_softmax,
    .edge_softmax_back = reference::edge_softmax_back,
    .gemm = reference::gemm<float>,
    .gemm_then = gemm_then,
    .add = add,
    .sum = sum,
    .add_squares = reference::add_squares,
    .add_scaled = add_scaled,
    .blend = blend,
    .scale = scale,
    .add_identity = add_identity,
    .dot = dot,
    .activate = reference::activate<float>,
    .activation_gradient = reference::activation_gradient<float>,
    .dropout = reference::dropout<float>,
    .positive_mask = reference::positive_mask<float>,
    .apply_mask = apply_mask,
    .softmax_cross_entropy = reference::softmax_cross_entropy<float>,
    .softmax_parts = softmax_parts,
    .softmax_totals = softmax_totals,
    .softmax_gradient = softmax_gradient,
    .count_correct = count_correct,
    .cross_entropy = cross_entropy,
    .norm_moment = reference::norm_moment,
    .norm_rows = reference::norm_rows,
    .norm_sums = reference::norm_sums,
    .norm_back = reference::norm_back,
    .norm_rows_back = reference::norm_rows_back,
    .batch_moments = reference::batch_moments,
    .batch_finish = reference::batch_finish,
    .batch_known = reference::batch_known,
    .batch_scale = reference::batch_scale,
    .batch_sums = reference::batch_sums,
    .batch_back = reference::batch_back,
    .column_sum = column_sum,
    .update = reference::update<float>,
    .divide = reference::divide<float>,
    .copy = copy,
    .gather_rows = gather_rows,
    .add_rows = add_rows,
    .narrow = reference::narrow,
    .widen = reference::widen,
    .gather_rows_narrow = reference::gather_rows_narrow,
    .gather_rows_bf16 = reference::gather_rows_bf16,
    .add_widened = reference::add_widened,
    .add_rows_widened = reference::add_rows_widened,
    .scale_rows = scale_rows,
    .zero = zero,
    .copy_bits = copy_bits,
});

}  // namespace

const Table& reference_table() { return table; }

}  // namespace gnnplan::kernels
