// Kernels with a sum over rows.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/row_blocks.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/parallel.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// The total of one row, whose part r is part[r * rows].
SoftmaxPart total_of(const SoftmaxPart* part, std::int64_t rows, std::int64_t ranks) {
    SoftmaxPart total;
    for (std::int64_t r = 0; r < ranks; ++r) total.largest = std::max(total.largest, part[r * rows].largest);
    bool found = false;
    for (std::int64_t r = 0; r < ranks; ++r) {
        const auto& [largest, others] = part[r * rows];
        if (std::isinf(largest) && others == 0) continue;  // no columns; a NaN counts
        const bool counts = found || largest != total.largest;
        total.others += counts ? (1 + others) * std::exp(largest - total.largest) : others;
        found = found || !counts;
    }
    return total;
}

}  // namespace

void softmax_cross_entropy(Matrix logits, const LossInput& input, double* loss) {
    const VectorKernels& kernels = best_kernels();
    *loss = sum_over_rows(logits, [&](std::int64_t i) {
        float* row = logits.row(i);
        if (input.split[i] == training_split) {
            return weight_of(input, i) *
                   kernels.losses.softmax_row(row, logits.columns, input.label[i], gradient_scale(input, i));
        }
        std::fill_n(row, logits.columns, 0.0F);
        return 0.0;
    });
}

void softmax_parts(ConstMatrix logits, const std::uint8_t* split, SoftmaxPart* parts) {
    const VectorKernels& kernels = best_kernels();
    parallel_for(
        row_blocks, logits.rows * logits.columns * exponential_cost, LoopSchedule::dynamic, [&](std::int64_t b) {
            for (std::int64_t i = block_start(logits.rows, b); i < block_start(logits.rows, b + 1); ++i) {
                parts[i] = split[i] == training_split ? kernels.losses.softmax_part(logits.row(i), logits.columns)
                                                      : SoftmaxPart{};
            }
        });
}

void softmax_totals(const SoftmaxPart* parts, std::int64_t rows, std::int64_t ranks, SoftmaxPart* totals) {
    parallel_chunks(rows, rows_per_chunk(ranks), rows * ranks * exponential_cost,
                    [&](std::int64_t first, std::int64_t last) {
                        for (std::int64_t i = first; i < last; ++i) totals[i] = total_of(parts + i, rows, ranks);
                    });
}

void softmax_gradient(Matrix logits, const LossInput& input, const SoftmaxPart* totals, double* loss) {
    const VectorKernels& kernels = best_kernels();
    *loss = sum_over_rows(logits, [&](std::int64_t i) {
        float* row = logits.row(i);
        if (input.split[i] != training_split) {
            std::fill_n(row, logits.columns, 0.0F);
            return 0.0;
        }
        const double others = totals[i].others, sum = 1 + others, scale = gradient_scale(input, i);
        const float largest = totals[i].largest;
        const std::int64_t label = input.label[i] - input.first_column;
        const bool here = label >= 0 && label < logits.columns;
        const double at_label = here ? static_cast<double>(row[label]) - largest : 0;
        kernels.losses.scaled_exponentials(row, logits.columns, largest, static_cast<float>(scale / sum));
        if (!here) return 0.0;
        const double below = at_label == 0 ? -others : std::exp(at_label) - sum;
        row[label] = static_cast<float>(below / sum * scale);
        return weight_of(input, i) * (std::log1p(others) - at_label);
    });
}

void count_correct(ConstMatrix logits, const std::int32_t* label, const std::uint8_t* split, double correct[3]) {
    std::fill_n(correct, 3, 0.0);
    if (logits.columns == 0) return;
    std::array<std::array<std::int64_t, 3>, row_blocks> partial{};
    parallel_for(row_blocks, logits.rows * logits.columns, LoopSchedule::fixed, [&](std::int64_t block) {
        std::array<std::int64_t, 3> count{};
        for (std::int64_t i = block_start(logits.rows, block); i < block_start(logits.rows, block + 1); ++i) {
            if (split[i] >= count.size() || label[i] < 0) continue;
            const float* row = logits.row(i);
            if (std::max_element(row, row + logits.columns) - row == label[i]) ++count[split[i]];
        }
        partial[static_cast<std::size_t>(block)] = count;
    });
    for (const auto& count : partial) {
        for (std::size_t s = 0; s < count.size(); ++s) correct[s] += static_cast<double>(count[s]);
    }
}

void cross_entropy(ConstMatrix logits, const std::int32_t* label, const std::uint8_t* split, std::uint8_t of,
                   double* loss) {
    const VectorKernels& kernels = best_kernels();
    *loss = sum_over_rows(logits, [&](std::int64_t i) {
        if (split[i] != of || label[i] < 0) return 0.0;
        const float* const row = logits.row(i);
        const SoftmaxPart all = kernels.losses.softmax_part(row, logits.columns);
        return std::log1p(static_cast<double>(all.others)) - (static_cast<double>(row[label[i]]) - all.largest);
    });
}

void column_sum(ConstMatrix g, float* out) {
    constexpr std::int64_t strip = 256;
    const VectorKernels& kernels = best_kernels();
    std::array<std::array<double, strip>, row_blocks> partial;
    for (std::int64_t column = 0; column < g.columns; column += strip) {
        const std::int64_t width = std::min(strip, g.columns - column);
        parallel_for(row_blocks, g.rows * width, LoopSchedule::fixed, [&](std::int64_t block) {
            std::array<double, strip> sum{};
            for (std::int64_t i = block_start(g.rows, block); i < block_start(g.rows, block + 1); ++i) {
                kernels.add_to(g.row(i) + column, width, sum.data());
            }
            partial[static_cast<std::size_t>(block)] = sum;
        });
        for (std::int64_t j = 0; j < width; ++j) {
            double total = 0;
            for (const auto& sum : partial) total += sum[static_cast<std::size_t>(j)];
            out[column + j] = static_cast<float>(total);
        }
    }
}

void dot(ConstMatrix a, ConstMatrix b, float* result) {
    const VectorKernels& kernels = best_kernels();
    std::array<double, row_blocks> partial{};
    parallel_for(row_blocks, a.rows * a.columns, LoopSchedule::fixed, [&](std::int64_t block) {
        for (std::int64_t i = block_start(a.rows, block); i < block_start(a.rows, block + 1); ++i)
            partial[static_cast<std::size_t>(block)] += kernels.dot_row(a.row(i), b.row(i), a.columns);
    });
    double total = 0;
    for (const double sum : partial) total += sum;
    *result = static_cast<float>(total);
}

}  // namespace gnnplan::kernels::cpu
