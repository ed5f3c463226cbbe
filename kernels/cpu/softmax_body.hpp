// Softmax, cross-entropy and gradient of one row. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cpu/gemm_body.hpp"

namespace gnnplan::kernels::cpu {
namespace {

template <int width>
struct IntegerVectorOf {
    typedef std::int32_t type __attribute__((vector_size(width * sizeof(std::int32_t))));
};
template <int width>
struct DoubleVectorOf {
    typedef double type __attribute__((vector_size(width * sizeof(double))));
};

// e^r - 1 and 2^n of x = n ln 2 + r with integer n and |r| <= ln 2 / 2, for -87 <= x <= 0. NaN stays NaN.
//
// e^r by a polynomial (Cephes' coefficients), 2^n by its exponent.
template <int width>
struct Exponential {
    GemmVector<width> less_one, power;

    explicit Exponential(const GemmVector<width>& x) {
        using Vector = GemmVector<width>;
        constexpr float to_integer = 12582912.0F;  // 1.5 * 2^23: added, it leaves the nearest integer in the low bits
        const Vector shifted = x * 1.44269504088896341F + to_integer;
        const Vector n = shifted - to_integer;
        const Vector r = x - n * 0.693359375F + n * 2.12194440e-4F;  // ln 2 in two parts, the first exact times n
        Vector p = r * 1.9875691500e-4F + 1.3981999507e-3F;
        p = p * r + 8.3334519073e-3F;
        p = p * r + 4.1665795894e-2F;
        p = p * r + 1.6666665459e-1F;
        p = p * r + 5.0000001201e-1F;
        less_one = p * (r * r) + r;
        typename IntegerVectorOf<width>::type exponent;
        __builtin_memcpy(&exponent, &shifted, sizeof exponent);
        exponent = (exponent + 127) << 23;  // to_integer's own bits leave at the top
        __builtin_memcpy(&power, &exponent, sizeof power);
    }
};

// e^x for x <= 0 to two units in the last place; 0 below -87, where floats become subnormal. NaN stays NaN.
template <int width>
GemmVector<width> exponential(const GemmVector<width>& x) {
    const Exponential<width> e(x);
    const GemmVector<width> zero = {};
    return x < -87.0F ? zero : (e.less_one + 1.0F) * e.power;
}

// e^x - 1 for x <= 0, to three units in its last place, but for the sign of 0. NaN stays NaN.
template <int width>
GemmVector<width> exponential_less_one(const GemmVector<width>& x) {
    const Exponential<width> e(x);
    const GemmVector<width> zero = {};
    return x < -87.0F ? zero - 1.0F : e.less_one * e.power + (e.power - 1.0F);
}

// The vectors of a row: body(vector, j, count) with `count` elements from j, those behind them filled with -infinity.
template <int width, class Body>
void for_vectors(const float* z, std::int64_t n, const Body& body) {
    using Vector = GemmVector<width>;
    using Integers = typename IntegerVectorOf<width>::type;
    std::int64_t j = 0;
    for (; j + width <= n; j += width) body(load_vector<Vector>(z + j), j, std::int64_t{width});
    if (j == n) return;
    Integers lane;
    for (int t = 0; t < width; ++t) lane[t] = t;
    const Vector lowest = Vector{} - __builtin_inff();
    const Vector rest = lane < static_cast<std::int32_t>(n - j) ? load_part<Vector>(z + j, n - j) : lowest;
    body(rest, j, n - j);
}

template <int width>
float largest_of(const float* z, std::int64_t n) {
    using Vector = GemmVector<width>;
    Vector most = Vector{} - __builtin_inff();
    for_vectors<width>(z, n, [&](const Vector& x, std::int64_t, std::int64_t) { most = x > most ? x : most; });
    float largest = most[0];
    for (int t = 1; t < width; ++t) largest = most[t] > largest ? most[t] : largest;
    return largest;
}

// Computes e^(z - largest) of every element, and passes each vector to keep(e, j, count). Returns the sum over all but
// one of the largest elements, in double: kept apart from the 1 of that element, it loses hardly any precision.
template <int width, class Keep>
double sum_of_others(const float* z, std::int64_t n, float largest, const Keep& keep) {
    using Vector = GemmVector<width>;
    using Doubles = typename DoubleVectorOf<width>::type;
    Doubles sums = {};
    Vector equal = {};
    const Vector zero = {};
    for_vectors<width>(z, n, [&](const Vector& x, std::int64_t j, std::int64_t count) {
        const Vector e = exponential<width>(x - largest);
        sums += __builtin_convertvector(x == largest ? e - 1.0F : e, Doubles);
        equal += x == largest ? zero + 1.0F : zero;
        keep(e, j, count);
    });
    double sum = 0, largest_ones = 0;
    for (int t = 0; t < width; ++t) sum += sums[t], largest_ones += static_cast<double>(equal[t]);
    return sum + (largest_ones - 1);
}

template <int width>
void store_vector(float* z, const GemmVector<width>& x, std::int64_t count) {
    if (count == width) {
        __builtin_memcpy(z, &x, sizeof x);
    } else {
        store_part<GemmVector<width>>(z, x, count);
    }
}

// Replaces a training row by its gradient and returns its cross-entropy. Subtracting the largest logit keeps every
// exponential in [0, 1].
template <int width>
double softmax_row(float* z, std::int64_t n, std::int64_t label, double inverse_training_count) {
    using Vector = GemmVector<width>;
    const float largest = largest_of<width>(z, n);
    const float at_label = z[label] - largest;
    const double others = sum_of_others<width>(z, n, largest, [&](const Vector& e, std::int64_t j, std::int64_t count) {
        store_vector<width>(z + j, e, count);
    });
    const double sum = 1 + others;
    // At the label (e - sum) / sum rather than e / sum - 1, which would cancel when the row is already well fitted.
    const double below = at_label == 0 ? -others : static_cast<double>(z[label]) - sum;
    const double gradient = below / sum * inverse_training_count;
    const auto scale = static_cast<float>(inverse_training_count / sum);
    for_vectors<width>(z, n, [&](const Vector& x, std::int64_t j, std::int64_t count) {
        store_vector<width>(z + j, x * scale, count);
    });
    z[label] = static_cast<float>(gradient);
    return __builtin_log1p(others) - static_cast<double>(at_label);
}

template <int width>
SoftmaxPart softmax_part(const float* z, std::int64_t n) {
    using Vector = GemmVector<width>;
    SoftmaxPart part = {-__builtin_inff(), 0};
    if (n == 0) return part;
    part.largest = largest_of<width>(z, n);
    const auto ignore = [](const Vector&, std::int64_t, std::int64_t) {};
    part.others = static_cast<float>(sum_of_others<width>(z, n, part.largest, ignore));
    return part;
}

template <int width>
void scaled_exponentials(float* z, std::int64_t n, float largest, float scale) {
    for_vectors<width>(z, n, [&](const GemmVector<width>& x, std::int64_t j, std::int64_t count) {
        store_vector<width>(z + j, exponential<width>(x - largest) * scale, count);
    });
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
