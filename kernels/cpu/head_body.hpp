// Operations head by head on rows of wide matrices. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>

#include "kernels/cpu/gemm_body.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// Lanes moved by `shift`, those at the front to the back.
template <int width, int shift, int... lane>
GemmVector<width> turned(const GemmVector<width>& x, std::integer_sequence<int, lane...>) {
    return __builtin_shufflevector(x, x, (lane + shift) % width...);
}

// Every lane becomes the combination of those that are a multiple of `period` apart, a power of two.
template <int width, int shift, class Combine>
GemmVector<width> combined(const GemmVector<width>& x, std::int64_t period, const Combine& combine) {
    if constexpr (shift == 0) {
        return x;
    } else {
        if (shift < period) return x;
        const auto other = turned<width, shift>(x, std::make_integer_sequence<int, width>{});
        return combined<width, shift / 2>(combine(x, other), period, combine);
    }
}
template <int width>
GemmVector<width> sum_of_lanes(const GemmVector<width>& x, std::int64_t period) {
    using Vector = GemmVector<width>;
    return combined<width, width / 2>(x, period, [](const Vector& a, const Vector& b) { return a + b; });
}

// Calls body(begin, end, k) for the columns of each head that are among the first n.
template <class Body>
void for_heads(std::int64_t n, const Heads& heads, const Body& body) {
    std::int64_t k = heads.first / heads.columns;
    for (std::int64_t begin = 0; begin < n; ++k) {
        const std::int64_t next = (k + 1) * heads.columns - heads.first;
        const std::int64_t end = next < n ? next : n;
        body(begin, end, k);
        begin = end;
    }
}

template <int width>
float dot_of(const float* x, const float* y, std::int64_t n) {
    using Vector = GemmVector<width>;
    Vector sum = {};
    std::int64_t j = 0;
    for (; j + width <= n; j += width) sum += load_vector<Vector>(x + j) * load_vector<Vector>(y + j);
    if (j < n) sum += load_part<Vector>(x + j, n - j) * load_part<Vector>(y + j, n - j);
    return sum_of_lanes<width>(sum, 1)[0];
}

template <int width>
void head_dot_row(const float* x, const float* y, std::int64_t n, Heads heads, std::int64_t count, float* out) {
    for (std::int64_t k = 0; k < count; ++k) out[k] = 0;
    for_heads(n, heads, [&](std::int64_t begin, std::int64_t end, std::int64_t k) {
        out[k] = dot_of<width>(x + begin, y + begin, end - begin);
    });
}

void head_spread_row(const float* by, const float* y, std::int64_t n, Heads heads, float* x) {
    for_heads(n, heads, [&](std::int64_t begin, std::int64_t end, std::int64_t k) {
        for (std::int64_t j = begin; j < end; ++j) x[j] += by[k] * y[j];
    });
}

void head_fold_row(const float* x, const float* by, std::int64_t n, Heads heads, double* sum) {
    for_heads(n, heads, [&](std::int64_t begin, std::int64_t end, std::int64_t k) {
        const auto weight = static_cast<double>(by[k]);
        for (std::int64_t j = begin; j < end; ++j) sum[j] += static_cast<double>(x[j]) * weight;
    });
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
