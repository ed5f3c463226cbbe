// Kernels with a sum over rows. Rows are cut into a number of blocks that does not depend on the threads, and the
// blocks' sums are added in order, so the bits do not depend on the threads either.
#include <algorithm>
#include <array>

#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

constexpr std::int64_t row_blocks = 64;

std::int64_t block_start(std::int64_t rows, std::int64_t block) {
    return block * (rows / row_blocks) + std::min(block, rows % row_blocks);
}

}  // namespace

double softmax_cross_entropy(Matrix logits, const LossInput& input) {
    constexpr std::int64_t exponential_cost = 4;
    const VectorKernels& kernels = best_kernels();
    std::array<double, row_blocks> partial{};
    const std::int64_t work = logits.rows * logits.columns * exponential_cost;
    parallel_for(row_blocks, work, Schedule::dynamic, [&](std::int64_t block) {
        double sum = 0;
        for (std::int64_t i = block_start(logits.rows, block); i < block_start(logits.rows, block + 1); ++i) {
            float* row = logits.row(i);
            if (input.in_training[i] == 1) {
                sum += kernels.softmax_row(row, logits.columns, input.label[i], input.inverse_training_count);
            } else {
                std::fill_n(row, logits.columns, 0.0F);
            }
        }
        partial[static_cast<std::size_t>(block)] = sum;
    });
    double loss = 0;
    for (const double sum : partial) loss += sum;
    return loss;
}

void count_correct(ConstMatrix logits, const std::int32_t* label, const std::uint8_t* subset, double correct[3]) {
    if (logits.columns == 0) return;
    std::array<std::array<std::int64_t, 3>, row_blocks> partial{};
    parallel_for(row_blocks, logits.rows * logits.columns, Schedule::fixed, [&](std::int64_t block) {
        std::array<std::int64_t, 3> count{};
        for (std::int64_t i = block_start(logits.rows, block); i < block_start(logits.rows, block + 1); ++i) {
            if (subset[i] >= count.size() || label[i] < 0) continue;
            const float* row = logits.row(i);
            if (std::max_element(row, row + logits.columns) - row == label[i]) ++count[subset[i]];
        }
        partial[static_cast<std::size_t>(block)] = count;
    });
    for (const auto& count : partial) {
        for (std::size_t s = 0; s < count.size(); ++s) correct[s] += static_cast<double>(count[s]);
    }
}

void column_sum(ConstMatrix g, float* out) {
    constexpr std::int64_t strip = 64;
    const VectorKernels& kernels = best_kernels();
    std::array<std::array<double, strip>, row_blocks> partial;
    for (std::int64_t column = 0; column < g.columns; column += strip) {
        const std::int64_t width = std::min(strip, g.columns - column);
        parallel_for(row_blocks, g.rows * width, Schedule::fixed, [&](std::int64_t block) {
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

}  // namespace gnnplan::kernels::cpu
