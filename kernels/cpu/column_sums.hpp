// Two sums over rows for each column, the same however many threads there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gnnplan/base/range.hpp>

#include "kernels/parallel.hpp"

namespace gnnplan::kernels::cpu {

// body(i, first, second) for every row, which adds to `columns` doubles each.
template <class T, class Body>
void sum_two_by_columns(std::int64_t rows, std::int64_t columns, T* first, T* second, const Body& body) {
    constexpr std::int64_t blocks = 64;  // of rows
    std::vector<double> partial(static_cast<std::size_t>(2 * blocks * columns), 0.0);
    parallel_for(blocks, 4 * rows * columns, LoopSchedule::fixed, [&](std::int64_t block) {
        double* const sums = partial.data() + 2 * block * columns;
        const Range own = balanced_block({0, rows}, block, blocks);
        for (std::int64_t i = own.begin; i < own.end; ++i) body(i, sums, sums + columns);
    });
    for (std::int64_t j = 0; j < columns; ++j) {
        double of_first = 0, of_second = 0;
        for (std::int64_t block = 0; block < blocks; ++block) {
            const double* const sums = partial.data() + 2 * block * columns + j;
            of_first += sums[0], of_second += sums[columns];
        }
        first[j] = static_cast<T>(of_first), second[j] = static_cast<T>(of_second);
    }
}

}  // namespace gnnplan::kernels::cpu
