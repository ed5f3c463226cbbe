// Sums over the rows of a matrix, column by column, in doubles and always in the same order: blocks add up the rows of
// ranges, and a second kernel adds up the ranges' sums, which lie in the scratch in between.
#pragma once

#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/sums.cuh"
#include "kernels/cuda/threads.cuh"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gnnplan::kernels::cuda {

// A block sums the rows of one of `parts` ranges in a strip of as many of the `columns` columns from `first` on as a
// warp has lanes. terms.of(column) gives the terms of a column: those of row i by its term(i).
template <class Terms>
__global__ void __launch_bounds__(block_threads)
    sum_columns(Terms terms, std::int64_t rows, std::int64_t first, std::int64_t columns, std::int64_t parts,
                double* partial) {
    __shared__ double of_warp[block_warps][warp_lanes];
    const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
    const int lane = lane_of_warp();
    const std::int64_t part = blockIdx.x % parts;
    const std::int64_t column = blockIdx.x / parts * warp_lanes + lane;
    const bool inside = column < columns;
    const auto of_column = terms.of(first + column);
    double sum = 0;
    for (std::int64_t i = part * block_warps + warp; inside && i < rows; i += parts * block_warps)
        sum += of_column.term(i);
    of_warp[warp][lane] = sum;
    __syncthreads();
    if (warp > 0 || !inside) return;
    for (int w = 1; w < block_warps; ++w) sum += of_warp[w][lane];
    partial[part * columns + column] = sum;
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    add_parts(const double* partial, std::int64_t parts, std::int64_t columns, T* out) {
    const std::int64_t column = thread_number();
    if (column >= columns) return;
    double sum = 0;
    for (std::int64_t part = 0; part < parts; ++part) sum += partial[part * columns + column];
    out[column] = static_cast<T>(sum);
}

// out[j] = the sum over the rows of the terms of column j.
template <class Terms, class T>
void sum_by_columns(const char* what, std::int64_t rows, std::int64_t columns, const Terms& terms, T* out) {
    constexpr std::int64_t rows_per_part = 64, most_parts = 256;
    const std::span<std::byte> scratch = queue().scratch;
    const auto room = static_cast<std::int64_t>(scratch.size() / sizeof(double));
    auto* const partial = reinterpret_cast<double*>(scratch.data());
    const std::int64_t wanted = rows < rows_per_part                ? 1
                                : rows > rows_per_part * most_parts ? most_parts
                                                                    : rows / rows_per_part;
    for (std::int64_t first = 0; first < columns; first += room) {
        const std::int64_t some = columns - first < room ? columns - first : room;
        const std::int64_t parts = wanted < room / some ? wanted : room / some;
        launch(what, parts * ceil_divide(some, warp_lanes), sum_columns<Terms>, terms, rows, first, some, parts,
               partial);
        launch(what, ceil_divide(some, block_threads), add_parts<T>, static_cast<const double*>(partial), parts, some,
               out + first);
    }
}

}  // namespace gnnplan::kernels::cuda
