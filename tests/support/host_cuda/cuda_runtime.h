// The names that CUDA's header of this name gives to kernels/cuda, as far as it uses them, for compilers of the host:
// kernels run on fibres (tests/support/fibres.hpp), and what is queued runs at once.
#pragma once

#include "tests/support/fibres.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static thread_local  // blocks run one after the other

using dim3 = gnnplan::testing::fibres::Extent;
using cudaStream_t = struct CUstream_st*;
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidConfiguration = 9, cudaErrorUnknown = 999 };

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes;
    cudaStream_t stream;
};

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
    const dim3 grid = config->gridDim, block = config->blockDim;
    if (grid.count() == 0 || grid.y > 65535 || grid.z > 65535 || block.count() == 0 || block.count() > 1024)
        return cudaErrorInvalidConfiguration;
    const std::tuple<Parameters...> parameters{static_cast<Parameters>(arguments)...};
    gnnplan::testing::fibres::run_grid(grid, block, [&] { std::apply(kernel, parameters); });
    return cudaSuccess;
}

inline cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t /*stream*/) {
    std::memset(memory, value, bytes);
    return cudaSuccess;
}

inline cudaError_t cudaMemset2DAsync(void* memory, std::size_t stride, int value, std::size_t width, std::size_t rows,
                                     cudaStream_t /*stream*/) {
    for (std::size_t i = 0; i < rows; ++i) std::memset(static_cast<std::byte*>(memory) + i * stride, value, width);
    return cudaSuccess;
}

inline void __syncthreads() { gnnplan::testing::fibres::wait_for_block(); }
inline void __syncwarp(unsigned lanes = 0xffffffffU) {
    gnnplan::testing::fibres::meet(gnnplan::testing::fibres::Meeting::barrier, lanes, 0, 0);
}
inline unsigned __ballot_sync(unsigned lanes, int predicate) {
    using namespace gnnplan::testing::fibres;
    return static_cast<unsigned>(meet(Meeting::ballot, lanes, predicate != 0 ? 1 : 0, 0));
}
inline int __any_sync(unsigned lanes, int predicate) { return __ballot_sync(lanes, predicate) != 0 ? 1 : 0; }

// Lanes are taken in groups of `width`.
template <class T>
T __shfl_sync(unsigned lanes, T value, int source, int width = 32) {
    using namespace gnnplan::testing::fibres;
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    const unsigned group = static_cast<unsigned>(width);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    bits = meet(Meeting::shuffle, lanes, bits, lane() / group * group + static_cast<unsigned>(source) % group);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T>
T __shfl_xor_sync(unsigned lanes, T value, int distance) {
    return __shfl_sync(lanes, value, static_cast<int>(gnnplan::testing::fibres::lane()) ^ distance);
}

template <class T>
T atomicAdd(T* address, T value) {
    const T before = *address;
    *address = before + value;
    return before;
}

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
template <class T>
T __ldcs(const T* from) {
    return *from;
}
inline void __stcs(float* to, float value) { *to = value; }
inline void __stcs(float2* to, float2 value) { *to = value; }
inline void __stcs(float4* to, float4 value) { *to = value; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
