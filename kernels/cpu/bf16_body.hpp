// Rows of floats from and to bfloat16. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>

#include "kernels/bf16.hpp"

namespace gnnplan::kernels::cpu {
namespace {

Bf16 as_bf16(float x) {
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, &x, sizeof bits);
    const std::uint32_t rounded = (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
    constexpr std::uint32_t infinity = 0x7f800000U;
    constexpr std::uint32_t quiet = 0x7fc0U;
    return {static_cast<std::uint16_t>((bits & 0x7fffffffU) > infinity ? quiet : rounded)};
}

float as_float(Bf16 x) {
    const std::uint32_t bits = std::uint32_t{x.bits} << 16U;
    float number = 0;
    __builtin_memcpy(&number, &bits, sizeof number);
    return number;
}

// to[j] = change(from[j]) for j < n, in vectors. What is left behind the whole chunks is done with the elements before
// it once more: one by one, it took twice as long for each element of rows of 41.
template <class From, class To, class Change>
void change_row(const From* from, To* to, std::int64_t n, const Change& change) {
    constexpr std::int64_t chunk = 32;
    if (n < chunk) {
        for (std::int64_t j = 0; j < n; ++j) to[j] = change(from[j]);
        return;
    }
    for (std::int64_t j = 0;; j = j + 2 * chunk <= n ? j + chunk : n - chunk) {
        for (std::int64_t t = 0; t < chunk; ++t) to[j + t] = change(from[j + t]);
        if (j + chunk == n) return;
    }
}

void to_bf16(const float* from, Bf16* to, std::int64_t n) {
    change_row(from, to, n, [](float x) { return as_bf16(x); });
}

void from_bf16(const Bf16* from, float* to, std::int64_t n) {
    change_row(from, to, n, [](Bf16 x) { return as_float(x); });
}

void add_bf16(const Bf16* from, float* to, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) to[j] += as_float(from[j]);
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
