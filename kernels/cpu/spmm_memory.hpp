// How spmm_body.hpp touches memory: vectors, prefetches, stores that bypass the caches. Part of vector_body.hpp, whose
// linkage rules hold here too.
#pragma once

#include <cstdint>

#include "kernels/views.hpp"

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace gnnplan::kernels::cpu {
namespace {

// GCC and Clang lower these to whatever registers the target has.
template <int width>
struct VectorOf {
    typedef float type __attribute__((vector_size(width * sizeof(float))));
};
template <>
struct VectorOf<1> {
    using type = float;
};

template <int width>
typename VectorOf<width>::type load(const float* from) {
    typename VectorOf<width>::type x;
    __builtin_memcpy(&x, from, sizeof x);
    return x;
}

constexpr std::int64_t line_floats = 16;

// Rows of B come from anywhere in memory, so those needed this many nonzeros later are prefetched: enough to hide the
// latency of memory, and little enough to stay in the first-level cache until they are read.
inline std::int64_t prefetch_distance(std::int64_t columns) {
    constexpr std::int64_t ahead_floats = 1 << 12;
    const std::int64_t rows = ahead_floats / columns;
    return rows < 16 ? 16 : rows > 128 ? 128 : rows;
}

// The cache line in which vector n of a row begins, unless an earlier one does.
template <int width, int n>
void prefetch(const float* row) {
    constexpr std::int64_t first = std::int64_t{n} * width;
    if constexpr (first % line_floats == 0) __builtin_prefetch(row + first);
}

inline bool unaligned(ConstMatrix b) {
    return b.stride % line_floats != 0 || reinterpret_cast<std::uintptr_t>(b.data) % (line_floats * sizeof(float)) != 0;
}

// Streaming stores write past the caches, whole aligned vectors each.
template <int width>
bool can_stream(Matrix c) {
#ifdef __AVX__
    return width >= 8 && c.columns % width == 0 && c.stride % width == 0 &&
           reinterpret_cast<std::uintptr_t>(c.data) % (width * sizeof(float)) == 0;
#else
    return static_cast<void>(c), false;
#endif
}

template <int width>
void stream(float* to, const typename VectorOf<width>::type& x) {
#ifdef __AVX512F__
    if constexpr (width == 16) return _mm512_stream_ps(to, __m512(x));
#endif
#ifdef __AVX__
    if constexpr (width == 8) return _mm256_stream_ps(to, __m256(x));
#endif
    __builtin_memcpy(to, &x, sizeof x);
}

// Orders the streaming stores before what this thread writes next.
inline void finish_streaming() {
#ifdef __AVX__
    _mm_sfence();
#endif
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
