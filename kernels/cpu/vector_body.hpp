// Bodies of the inner loops, included by one source file per instruction set (each compiled with its own flags).
//
// Everything here has internal linkage, and inline functions of other headers are not called: a copy compiled for
// AVX-512 must never be the one that the linker keeps for everybody.
#pragma once

#include <cstdint>

#include "kernels/cpu/spmm_body.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

void bias_relu(float* z, const float* bias, bool relu, std::int64_t n) {
    if (bias != nullptr && relu) {
        for (std::int64_t j = 0; j < n; ++j) {
            const float x = z[j] + bias[j];
            z[j] = x < 0 ? 0 : x;
        }
    } else if (bias != nullptr) {
        for (std::int64_t j = 0; j < n; ++j) z[j] += bias[j];
    } else if (relu) {
        for (std::int64_t j = 0; j < n; ++j) z[j] = z[j] < 0 ? 0 : z[j];
    }
}

// Philox4x32-10 (Salmon et al. 2011) on `lanes` counters at once, in place, word-major so that it vectorises; the same
// function as Random123's, which works on one counter.
template <int lanes>
void philox(std::uint32_t (&words)[4][lanes], StreamKey key) {
    for (int round = 0; round < 10; ++round) {
        for (int t = 0; t < lanes; ++t) {
            const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * words[0][t];
            const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * words[2][t];
            words[0][t] = static_cast<std::uint32_t>(product1 >> 32U) ^ words[1][t] ^ key.low;
            words[2][t] = static_cast<std::uint32_t>(product0 >> 32U) ^ words[3][t] ^ key.high;
            words[1][t] = static_cast<std::uint32_t>(product1);
            words[3][t] = static_cast<std::uint32_t>(product0);
        }
        key.low += 0x9E3779B9U;
        key.high += 0xBB67AE85U;
    }
}

void dropout_draws(StreamKey key, DrawRows rows, std::int64_t row_count, std::int64_t group, std::int64_t groups,
                   std::uint16_t* draws) {
    constexpr int lanes = 64;  // GCC unrolls shorter loops before it vectorises, and then does not
    std::uint32_t words[4][lanes] = {};
    const std::int64_t total = row_count * groups;
    std::int64_t row = rows.ids != nullptr ? rows.ids[0] : rows.first;  // of the next counter
    std::int64_t r = 0;
    std::int64_t g = 0;
    for (std::int64_t first = 0; first < total; first += lanes) {
        const int count = total - first < lanes ? static_cast<int>(total - first) : lanes;
        for (int t = 0; t < count; ++t) {
            const auto global_group = static_cast<std::uint64_t>(group + g);
            const auto global_row = static_cast<std::uint64_t>(row);
            words[0][t] = static_cast<std::uint32_t>(global_group);
            words[1][t] = static_cast<std::uint32_t>(global_group >> 32U);
            words[2][t] = static_cast<std::uint32_t>(global_row);
            words[3][t] = static_cast<std::uint32_t>(global_row >> 32U);
            if (++g == groups) {
                g = 0;
                ++row;
                if (rows.ids != nullptr && ++r < row_count) row = rows.ids[r];
            }
        }
        philox(words, key);
        for (int t = 0; t < count; ++t) {
            for (std::int64_t word = 0; word < 4; ++word) {
                std::uint16_t* pair = draws + (first + t) * dropout_group + 2 * word;
                pair[0] = static_cast<std::uint16_t>(words[word][t]);
                pair[1] = static_cast<std::uint16_t>(words[word][t] >> 16U);
            }
        }
    }
}

void drop(const float* in, float* out, std::int64_t n, const std::uint16_t* draws, std::uint32_t threshold,
          float scale) {
    for (std::int64_t j = 0; j < n; ++j) {
        const float scaled = in[j] * scale;
        out[j] = draws[j] >= threshold ? scaled : 0.0F;
    }
}

void pack_positive(const float* h, std::int64_t n, std::uint8_t* bits) {
    const std::int64_t whole = n / 8;
    for (std::int64_t byte = 0; byte < whole; ++byte) {
        unsigned value = 0;
        for (unsigned k = 0; k < 8; ++k) value |= static_cast<unsigned>(h[8 * byte + k] > 0) << k;
        bits[byte] = static_cast<std::uint8_t>(value);
    }
    if (n % 8 == 0) return;
    unsigned value = 0;
    for (unsigned k = 0; k < static_cast<unsigned>(n % 8); ++k) {
        value |= static_cast<unsigned>(h[8 * whole + k] > 0) << k;
    }
    bits[whole] = static_cast<std::uint8_t>(value);
}

void apply_bits(float* g, std::int64_t n, const std::uint8_t* bits, std::int64_t first_bit, float scale) {
    const std::uint8_t* from = bits + first_bit / 8;
    const auto shift = static_cast<unsigned>(first_bit % 8);
    std::int64_t j = 0;
    for (; j + 8 <= n; j += 8, ++from) {
        const unsigned next = shift == 0 ? 0U : from[1];
        const unsigned byte = (from[0] | next << 8U) >> shift;
        for (unsigned k = 0; k < 8; ++k) {
            const float scaled = g[j + k] * scale;
            g[j + k] = (byte & 1U << k) != 0 ? scaled : 0.0F;
        }
    }
    for (unsigned k = shift; j < n; ++j, ++k) g[j] = (from[k / 8] >> (k % 8) & 1U) != 0 ? g[j] * scale : 0.0F;
}

void add_to(const float* g, std::int64_t n, double* sum) {
    for (std::int64_t j = 0; j < n; ++j) sum[j] += static_cast<double>(g[j]);
}

void adam(float* __restrict w, const float* __restrict gradient, float* __restrict m1, float* __restrict m2,
          std::int64_t n, const AdamSettings& settings, float correction1, float correction2) {
    const AdamSettings s = settings;
    for (std::int64_t i = 0; i < n; ++i) {
        const float g = gradient[i] + s.weight_decay * w[i];
        m1[i] = s.beta1 * m1[i] + (1 - s.beta1) * g;
        m2[i] = s.beta2 * m2[i] + (1 - s.beta2) * g * g;
        w[i] -= s.learning_rate * (m1[i] * correction1) / (__builtin_sqrtf(m2[i] * correction2) + s.epsilon);
    }
}

// `width` floats fill a vector register; `strip` registers hold a strip of an SpMM's result row.
template <int width, int strip>
constexpr VectorKernels vector_kernels(const char* name) {
    return {name, spmm_rows<width, strip>, bias_relu, dropout_draws, drop, pack_positive, apply_bits, add_to, adam};
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
