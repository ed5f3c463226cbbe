// Packed bits from and to vectors. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace gnnplan::kernels::cpu {
namespace {

// Bit k of the result = h[k] > 0, k < 8.
unsigned positive_byte(const float* h) {
#if defined(__AVX2__)
    return static_cast<unsigned>(
        _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(h), _mm256_setzero_ps(), _CMP_GT_OQ)));
#else
    unsigned value = 0;
    for (unsigned k = 0; k < 8; ++k) value |= static_cast<unsigned>(h[k] > 0) << k;
    return value;
#endif
}

void pack_positive(const float* h, std::int64_t n, std::uint8_t* bits) {
    std::int64_t j = 0;
#if defined(__AVX512F__)
    for (; j + 16 <= n; j += 16) {
        const __mmask16 mask = _mm512_cmp_ps_mask(_mm512_loadu_ps(h + j), _mm512_setzero_ps(), _CMP_GT_OQ);
        __builtin_memcpy(bits + j / 8, &mask, 2);
    }
#endif
    for (; j + 8 <= n; j += 8) bits[j / 8] = static_cast<std::uint8_t>(positive_byte(h + j));
    if (j == n) return;
    unsigned value = 0;
    for (unsigned k = 0; k < static_cast<unsigned>(n - j); ++k) value |= static_cast<unsigned>(h[j + k] > 0) << k;
    bits[j / 8] = static_cast<std::uint8_t>(value);
}

// g[k] = bit k of `byte` ? g[k] * scale : 0, k < 8.
void apply_byte(float* g, unsigned byte, float scale) {
#if defined(__AVX2__)
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i on = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(byte)), bit), bit);
    const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(g), _mm256_set1_ps(scale));
    _mm256_storeu_ps(g, _mm256_and_ps(scaled, _mm256_castsi256_ps(on)));
#else
    for (unsigned k = 0; k < 8; ++k) {
        const float scaled = g[k] * scale;
        g[k] = (byte & 1U << k) != 0 ? scaled : 0.0F;
    }
#endif
}

void apply_bits(float* g, std::int64_t n, const std::uint8_t* bits, std::int64_t first_bit, float scale) {
    const std::uint8_t* from = bits + first_bit / 8;
    const auto shift = static_cast<unsigned>(first_bit % 8);
    std::int64_t j = 0;
#if defined(__AVX512F__)
    for (; j + 16 <= n; j += 16, from += 2) {
        const unsigned third = shift == 0 ? 0U : from[2];
        const unsigned word = (from[0] | static_cast<unsigned>(from[1]) << 8U | third << 16U) >> shift;
        const auto mask = static_cast<__mmask16>(word & 0xffffU);
        _mm512_storeu_ps(g + j, _mm512_maskz_mul_ps(mask, _mm512_loadu_ps(g + j), _mm512_set1_ps(scale)));
    }
#endif
    for (; j + 8 <= n; j += 8, ++from) {
        const unsigned next = shift == 0 ? 0U : from[1];
        apply_byte(g + j, (from[0] | next << 8U) >> shift & 0xffU, scale);
    }
    for (unsigned k = shift; j < n; ++j, ++k) g[j] = (from[k / 8] >> (k % 8) & 1U) != 0 ? g[j] * scale : 0.0F;
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
