// bfloat16 by arithmetic: what a number becomes, its bits, and the entries of the table.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/bf16.hpp"
#include "kernels/views.hpp"

namespace gnnplan::kernels::reference {

// The nearest number of 8 significant bits and a float's exponents, of two the even one.
inline float rounded(float x) {
    if (!std::isfinite(x)) return x;
    int exponent = 0;
    std::frexp(x, &exponent);
    constexpr int least = -125;  // of normal numbers
    const double quantum = std::ldexp(1.0, std::max(exponent, least) - 8);
    return static_cast<float>(std::nearbyint(x / quantum) * quantum);
}

inline Bf16 narrow(float x) {
    constexpr std::uint16_t quiet = 0x7fc0;
    return {std::isnan(x) ? quiet : static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(rounded(x)) >> 16U)};
}
inline float widen(Bf16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16U); }

inline void narrow(ConstMatrix in, Dense<Bf16> out) {
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.columns; ++j) out.row(i)[j] = narrow(in.row(i)[j]);
    }
}

inline void widen(Dense<const Bf16> in, Matrix out) {
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.columns; ++j) out.row(i)[j] = widen(in.row(i)[j]);
    }
}

inline void gather_rows_narrow(ConstMatrix in, const std::int32_t* index, Dense<Bf16> out) {
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.columns; ++j) out.row(i)[j] = narrow(in.row(index[i])[j]);
    }
}

inline void gather_rows_bf16(Dense<const Bf16> in, const std::int32_t* index, Dense<Bf16> out) {
    for (std::int64_t i = 0; i < out.rows; ++i) std::copy_n(in.row(index[i]), out.columns, out.row(i));
}

inline void add_widened(Dense<const Bf16> in, Matrix out) {
    for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.columns; ++j) out.row(i)[j] += widen(in.row(i)[j]);
    }
}

inline void add_rows_widened(Dense<const Bf16> in, const std::int32_t* index, std::int64_t first, Matrix out) {
    for (std::int64_t i = 0; i < in.rows; ++i) {
        for (std::int64_t j = 0; j < in.columns; ++j) out.row(index[i] - first)[j] += widen(in.row(i)[j]);
    }
}

}  // namespace gnnplan::kernels::reference
