// Numbers of 16 bits, in which large data sets store features and some programs store weights: IEEE 754 binary16
// (float16) and bfloat16.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace gnnplan {

// A sign, 5 bits of exponent and 10 of significand. Every such number is a float.
struct Half {
    std::uint16_t bits = 0;

    explicit operator float() const {
        constexpr std::uint32_t infinity = 0x7C00U;
        constexpr std::uint32_t smallest_normal = 0x0400U;
        const float sign = (bits & 0x8000U) != 0 ? -1.0F : 1.0F;
        const std::uint32_t magnitude = bits & 0x7FFFU;
        if (magnitude > infinity) return std::numeric_limits<float>::quiet_NaN();
        if (magnitude == infinity) return sign * std::numeric_limits<float>::infinity();
        if (magnitude < smallest_normal) return sign * 0x1p-24F * static_cast<float>(magnitude);
        constexpr std::uint32_t bias_difference = 112;
        return sign * std::bit_cast<float>((magnitude << 13U) + (bias_difference << 23U));
    }
    explicit operator double() const { return static_cast<float>(*this); }
};

// The upper half of a float: a sign, 8 bits of exponent and 7 of significand.
struct Bfloat16 {
    std::uint16_t bits = 0;

    explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16U); }
    explicit operator double() const { return static_cast<float>(*this); }
};

}  // namespace gnnplan
