// How sparse products touch memory: vectors of either element, prefetches, stores that bypass the caches. Part of
// vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>

#include "kernels/bf16.hpp"
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

template <int width>
struct BitsOf {
    typedef std::uint16_t Halves __attribute__((vector_size(width * sizeof(std::uint16_t))));
    typedef std::uint32_t Words __attribute__((vector_size(width * sizeof(std::uint32_t))));
};
template <>
struct BitsOf<1> {
    using Halves = std::uint16_t;
    using Words = std::uint32_t;
};

template <class Words, class Halves>
Words widened(const Halves& halves) {
    if constexpr (sizeof(Halves) == sizeof(std::uint16_t)) {
        return halves;
    } else {
        return __builtin_convertvector(halves, Words);
    }
}

// The upper halves of floats, as floats.
template <int width>
typename VectorOf<width>::type load(const Bf16* from) {
    typename BitsOf<width>::Halves halves;
    __builtin_memcpy(&halves, from, sizeof halves);
    const auto words = widened<typename BitsOf<width>::Words>(halves) << 16U;
    typename VectorOf<width>::type x;
    __builtin_memcpy(&x, &words, sizeof x);
    return x;
}

constexpr std::int64_t bytes_of_line = 64;

// Rows of B come from anywhere in memory, so those needed this many nonzeros later are prefetched: enough to hide the
// latency of memory, and little enough to stay in the first-level cache until they are read.
inline std::int64_t prefetch_distance(std::int64_t row_bytes) {
    constexpr std::int64_t ahead_bytes = 1 << 14;
    const std::int64_t rows = ahead_bytes / row_bytes;
    return rows < 16 ? 16 : rows > 128 ? 128 : rows;
}

// The cache line in which vector n of a row begins, unless an earlier one does. GCC 12 takes a function that prefetches
// and does nothing else for one without effects, and leaves calls to it out unless they are inlined before.
template <int width, int n, class Element>
[[gnu::always_inline]] inline void prefetch(const Element* row) {
    constexpr std::int64_t first = std::int64_t{n} * width;
    if constexpr (first * sizeof(Element) % bytes_of_line == 0) __builtin_prefetch(row + first);
}

// The cache lines of a row of a result that is read and written.
[[gnu::always_inline]] inline void fetch_row(const Matrix& c, std::int64_t i) {
    const char* row = reinterpret_cast<const char*>(c.data + i * c.stride);
    const auto bytes = static_cast<std::int64_t>(sizeof(float)) * c.columns;
    for (std::int64_t at = 0; at < bytes; at += bytes_of_line) __builtin_prefetch(row + at, 1);
}

template <class Element>
bool unaligned(Dense<const Element> b) {
    return b.stride * std::int64_t{sizeof(Element)} % bytes_of_line != 0 ||
           reinterpret_cast<std::uintptr_t>(b.data) % bytes_of_line != 0;
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
