// Checked integer arithmetic: counts of edges and bytes are 64-bit, narrowing and overflow are errors.
#pragma once

#include <gnnplan/base/error.hpp>

#include <cstdint>
#include <utility>

namespace gnnplan {

template <class To, class From>
To checked_cast(From value) {
    if (!std::in_range<To>(value)) throw Error(ErrorCode::data, "integer out of range: " + std::to_string(value));
    return static_cast<To>(value);
}

inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) throw Error(ErrorCode::data, "sizes too large: product exceeds 2^63");
    return product;
}

inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) throw Error(ErrorCode::data, "sizes too large: sum exceeds 2^63");
    return sum;
}

inline std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace gnnplan
