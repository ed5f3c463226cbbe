// Sums over the rows of a matrix, in doubles and always in the same order: blocks of warps add up what their rows give,
// and a second kernel adds up the blocks' sums, which lie in the scratch in between.
#pragma once

#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/threads.cuh"

#include <cstdint>

namespace gnnplan::kernels::cuda {

inline constexpr int block_warps = block_threads / warp_lanes;
inline constexpr std::int64_t most_partial_sums = 1024;

// A warp has a row at a time. of_row(i, sums) adds what row i gives to the lanes' sums, `count` of each.
template <int count, class OfRow>
__global__ void __launch_bounds__(block_threads) sum_blocks(std::int64_t rows, OfRow of_row, double* partial) {
    __shared__ double of_warp[block_warps][count];
    const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
    double sums[count] = {};
    for (std::int64_t i = std::int64_t{blockIdx.x} * block_warps + warp; i < rows;
         i += std::int64_t{gridDim.x} * block_warps) {
        of_row(i, sums);
    }
    for (int s = 0; s < count; ++s) {
        const double sum = warp_sum(sums[s]);
        if (lane_of_warp() == 0) of_warp[warp][s] = sum;
    }
    __syncthreads();
    if (threadIdx.x < count) {
        double sum = 0;
        for (int w = 0; w < block_warps; ++w) sum += of_warp[w][threadIdx.x];
        partial[blockIdx.x * count + threadIdx.x] = sum;
    }
}

// One warp for each of the sums.
template <int count, class T>
__global__ void __launch_bounds__(block_threads) sum_partial(const double* partial, std::int64_t blocks, T* out) {
    const int s = static_cast<int>(threadIdx.x) / warp_lanes;
    if (s >= count) return;
    double sum = 0;
    for (std::int64_t b = lane_of_warp(); b < blocks; b += warp_lanes) sum += partial[b * count + s];
    sum = warp_sum(sum);
    if (lane_of_warp() == 0) out[s] = static_cast<T>(sum);
}

// out[s] = the sum over the rows, s < count.
template <int count, class T, class OfRow>
void sum_over_rows(const char* what, std::int64_t rows, const OfRow& of_row, T* out) {
    static_assert(count <= block_warps);
    auto* const partial = reinterpret_cast<double*>(queue().scratch.data());
    const std::int64_t wanted = ceil_divide(rows, block_warps);
    const std::int64_t blocks = wanted < most_partial_sums ? wanted : most_partial_sums;
    launch(what, blocks, sum_blocks<count, OfRow>, rows, of_row, partial);
    launch(what, 1, sum_partial<count, T>, static_cast<const double*>(partial), blocks, out);
}

}  // namespace gnnplan::kernels::cuda
