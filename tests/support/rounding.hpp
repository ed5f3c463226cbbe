// Rounding as messages in bfloat16 do it.
#pragma once

#include <bit>
#include <cstdint>

namespace gnnplan::testing {

// To the nearest number of which bfloat16 keeps all bits, ties to the even one; of finite numbers.
inline float as_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t half = 0x7fff + (bits >> 16U & 1U);
    return std::bit_cast<float>((bits + half) & 0xffff0000U);
}

}  // namespace gnnplan::testing
