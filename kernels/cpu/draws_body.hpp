// Random numbers of dropout, several counters at once. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// One word of `lanes` counters, each in the low half of a lane; the high halves are arbitrary.
template <int lanes>
struct WordsOf {
    typedef std::uint64_t type __attribute__((vector_size(lanes * sizeof(std::uint64_t))));
};

// Products of the low halves. Left to themselves, compilers take 64-bit products, which are several times slower.
template <class Words>
Words multiply(const Words& x, std::uint32_t factor) {
#if defined(__AVX512F__)
    return (Words)_mm512_maskz_mul_epu32(0xff, (__m512i)x, _mm512_set1_epi64(factor));
#elif defined(__AVX2__)
    return (Words)_mm256_mul_epu32((__m256i)x, _mm256_set1_epi64x(factor));
#elif defined(__SSE2__)
    return (Words)_mm_mul_epu32((__m128i)x, _mm_set1_epi64x(factor));
#else
    return (x & 0xffffffffU) * factor;
#endif
}

// Philox4x32-10 (Salmon et al. 2011) in place; the same function as Random123's, which works on one counter.
template <class Words>
void philox(Words (&words)[4], StreamKey key) {
    for (int round = 0; round < 10; ++round) {
        const Words product0 = multiply<Words>(words[0], 0xD2511F53U);
        const Words product1 = multiply<Words>(words[2], 0xCD9E8D57U);
        words[0] = (product1 >> 32U) ^ words[1] ^ key.low;
        words[2] = (product0 >> 32U) ^ words[3] ^ key.high;
        words[1] = product1;
        words[3] = product0;
        key.low += 0x9E3779B9U;
        key.high += 0xBB67AE85U;
    }
}

// The four words of each counter behind each other, counter after counter.
template <int lanes, class Words>
void store_counters(const Words (&words)[4], std::uint16_t* draws) {
    const Words first = (words[0] & 0xffffffffU) | words[1] << 32U;
    const Words second = (words[2] & 0xffffffffU) | words[3] << 32U;
    std::uint64_t pairs[2 * lanes];
    for (int t = 0; t < lanes; ++t) {
        pairs[2 * t] = first[t];
        pairs[2 * t + 1] = second[t];
    }
    __builtin_memcpy(draws, pairs, sizeof pairs);
}

// Counters that are drawn at a time.
constexpr std::int64_t most_counters = draw_columns / dropout_group;
struct Counters {
    std::uint64_t column[most_counters] = {};
    std::uint64_t row[most_counters] = {};
};

// The draws of the first `total` counters; `draws` has room for draw_columns.
template <int lanes>
void draws_of(StreamKey key, const Counters& counters, std::int64_t total, std::uint16_t* draws) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low half of a word is the first draw");
    static_assert(most_counters % lanes == 0);
    using Words = typename WordsOf<lanes>::type;
    for (std::int64_t t = 0; t < total; t += lanes) {
        Words words[4];
        __builtin_memcpy(&words[0], counters.column + t, sizeof(Words));
        __builtin_memcpy(&words[2], counters.row + t, sizeof(Words));
        words[1] = words[0] >> 32U;
        words[3] = words[2] >> 32U;
        philox(words, key);
        store_counters<lanes>(words, draws + t * dropout_group);
    }
}

template <int lanes>
void dropout_draws(StreamKey key, DrawRows rows, std::int64_t row_count, std::int64_t group, std::int64_t groups,
                   std::uint16_t* draws) {
    Counters counters;
    std::int64_t total = 0;
    for (std::int64_t r = 0; r < row_count; ++r) {
        const auto row = static_cast<std::uint64_t>(rows.ids != nullptr ? rows.ids[r] : rows.first + r);
        for (std::int64_t g = 0; g < groups; ++g, ++total) {
            counters.column[total] = static_cast<std::uint64_t>(group + g);
            counters.row[total] = row;
        }
    }
    draws_of<lanes>(key, counters, total, draws);
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
