// Questions of kernels about their threads and about their views.
#pragma once

#include "kernels/cuda/choices.hpp"
#include "kernels/views.hpp"

#include <cuda_runtime.h>

#include <cstdint>

namespace gnnplan::kernels::cuda {

// Before a loop over what a thread keeps in registers: an index that is not known when the kernel is compiled would put
// it into memory.
#ifdef __CUDACC__
#define GNNPLAN_UNROLL _Pragma("unroll")
#else
#define GNNPLAN_UNROLL
#endif

inline constexpr unsigned all_lanes = 0xffffffffU;
inline constexpr int warp_lanes = 32;

__device__ inline std::int64_t thread_number() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline std::int64_t thread_count() { return std::int64_t{gridDim.x} * blockDim.x; }
__device__ inline int lane_of_warp() { return static_cast<int>(threadIdx.x % warp_lanes); }

// x / by, of numbers that are not negative. Divisions of 64 bits take several times as long.
__device__ inline std::int64_t quotient(std::int64_t x, std::int64_t by) {
    if (((x | by) >> 32) != 0) return x / by;
    return static_cast<std::uint32_t>(x) / static_cast<std::uint32_t>(by);
}

// x y, of numbers of 32 bits that are not negative: products of 64 bits take several times as many instructions.
__device__ inline std::int64_t wide_product(std::int64_t x, std::int64_t y) {
    return static_cast<std::int64_t>(std::uint64_t{static_cast<std::uint32_t>(x)} * static_cast<std::uint32_t>(y));
}

template <class T>
__device__ T smaller(T x, T y) {
    return y < x ? y : x;
}
template <class T>
__device__ T larger(T x, T y) {
    return x < y ? y : x;
}

// Reads past the caches, so that they keep data that is read again.
template <class T>
__device__ T read_once(const T* from) {
    if constexpr (choices::streaming_loads) return __ldcs(from);
    return *from;
}

template <class T>
__device__ T* row_of(const Dense<T>& matrix, std::int64_t i) {
    return matrix.data + i * matrix.stride;
}

// Entry i of the row starts of a matrix, whichever width they have.
template <class T>
__device__ std::int64_t start_of(const BasicCsr<T>& a, std::int64_t i) {
    return a.row_start != nullptr ? a.row_start[i] : a.narrow_row_start[i];
}

// The sum over the lanes of a warp, in every lane, always in the same order.
template <class T>
__device__ T warp_sum(T x) {
    for (int distance = warp_lanes / 2; distance > 0; distance /= 2) x += __shfl_xor_sync(all_lanes, x, distance);
    return x;
}

// The largest in the lanes of a warp, in every lane; of numbers, where a NaN is none.
__device__ inline float warp_largest(float x) {
    for (int distance = warp_lanes / 2; distance > 0; distance /= 2)
        x = fmaxf(x, __shfl_xor_sync(all_lanes, x, distance));
    return x;
}

}  // namespace gnnplan::kernels::cuda
