// Rows of floats from and to bfloat16. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>

#include "kernels/bf16.hpp"

namespace gnnplan::kernels::cpu {
namespace {

void to_bf16(const float* from, Bf16* to, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) {
        std::uint32_t bits = 0;
        __builtin_memcpy(&bits, from + j, sizeof bits);
        const std::uint32_t rounded = (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
        constexpr std::uint32_t infinity = 0x7f800000U;
        constexpr std::uint32_t quiet = 0x7fc0U;
        to[j].bits = static_cast<std::uint16_t>((bits & 0x7fffffffU) > infinity ? quiet : rounded);
    }
}

float widened_bits(Bf16 x) {
    const std::uint32_t bits = std::uint32_t{x.bits} << 16U;
    float number = 0;
    __builtin_memcpy(&number, &bits, sizeof number);
    return number;
}

void from_bf16(const Bf16* from, float* to, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) to[j] = widened_bits(from[j]);
}

void add_bf16(const Bf16* from, float* to, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) to[j] += widened_bits(from[j]);
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
