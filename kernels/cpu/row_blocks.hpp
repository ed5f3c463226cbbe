// Sums over rows. Rows are cut into a number of blocks that does not depend on the threads, and the blocks' sums are
// added in order, so the bits do not depend on the threads either.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/parallel.hpp"
#include "kernels/views.hpp"

namespace gnnplan::kernels::cpu {

inline constexpr std::int64_t row_blocks = 64;

inline std::int64_t block_start(std::int64_t rows, std::int64_t block) {
    return block * (rows / row_blocks) + std::min(block, rows % row_blocks);
}

// The cost of an element in additions, which decides how many threads are worth it.
inline constexpr std::int64_t exponential_cost = 4;

// The sum of of_row(i).
template <class OfRow>
double sum_over_rows(ConstMatrix logits, const OfRow& of_row) {
    std::array<double, row_blocks> partial{};
    const std::int64_t work = logits.rows * logits.columns * exponential_cost;
    parallel_for(row_blocks, work, LoopSchedule::dynamic, [&](std::int64_t block) {
        double sum = 0;
        for (std::int64_t i = block_start(logits.rows, block); i < block_start(logits.rows, block + 1); ++i) {
            sum += of_row(i);
        }
        partial[static_cast<std::size_t>(block)] = sum;
    });
    double total = 0;
    for (const double sum : partial) total += sum;
    return total;
}

}  // namespace gnnplan::kernels::cpu
