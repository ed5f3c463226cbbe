// Values of the entries of rows. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>

#include "kernels/cpu/head_body.hpp"
#include "kernels/cpu/row_walk.hpp"
#include "kernels/cpu/softmax_body.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// <y, x> of n columns for `count` rows of x at a time: their sums wait for each other's columns and not for themselves.
// Each row's place in `next` is fetched meanwhile.
template <int width, int count>
void dot_rows(const float* const* x, const float* const* next, const float* y, std::int64_t n, float* out) {
    using Vector = GemmVector<width>;
    Vector sum[count] = {};
    std::int64_t j = 0;
    for (; j + width <= n; j += width) {
        const Vector of_row = load_vector<Vector>(y + j);
        for (int t = 0; t < count; ++t) {
            __builtin_prefetch(next[t] + j);
            sum[t] += of_row * load_vector<Vector>(x[t] + j);
        }
    }
    if (j < n) {
        const Vector of_row = load_part<Vector>(y + j, n - j);
        for (int t = 0; t < count; ++t) {
            __builtin_prefetch(next[t] + n - 1);
            sum[t] += of_row * load_part<Vector>(x[t] + j, n - j);
        }
    }
    for (int t = 0; t < count; ++t) out[t] = sum_of_lanes<width>(sum[t], 1)[0];
}

template <int width>
void edge_dot_rows(const Csr& a, ConstMatrix x, ConstMatrix y, float* scores, std::int64_t first, std::int64_t last) {
    constexpr int at_once = 4;
    const std::int64_t bytes = x.columns * std::int64_t{sizeof(float)};
    const std::int64_t ahead = prefetch_distance(bytes < 1 ? 1 : bytes), end = a.row_start[a.rows];
    const auto row_of = [&](std::int64_t e) { return x.data + a.column[e] * x.stride; };
    for (std::int64_t i = first; i < last; ++i) {
        const float* of_row = y.data + i * y.stride;
        std::int64_t e = a.row_start[i];
        const std::int64_t row_end = a.row_start[i + 1];
        const std::int64_t further = row_end + ahead <= end ? ahead : 0;
        for (; e + at_once <= row_end; e += at_once) {
            const float* rows[at_once];
            const float* next[at_once];
            for (int t = 0; t < at_once; ++t) rows[t] = row_of(e + t), next[t] = row_of(e + t + further);
            dot_rows<width, at_once>(rows, next, of_row, x.columns, scores + e);
        }
        for (; e < row_end; ++e) {
            const float* row = row_of(e);
            const float* next = row_of(e + further);
            dot_rows<width, 1>(&row, &next, of_row, x.columns, scores + e);
        }
    }
}

// body(beta * scores, j, count) for the vectors of a row; those behind its end are -infinity.
template <int width, class Body>
void for_scaled(const float* scores, std::int64_t n, float beta, const Body& body) {
    using Vector = GemmVector<width>;
    using Integers = typename IntegerVectorOf<width>::type;
    const Vector lowest = Vector{} - __builtin_inff();
    for_vectors<width>(scores, n, [&](const Vector& x, std::int64_t j, std::int64_t count) {
        if (count == width) return body(x * beta, j, count);
        Integers lane;
        for (int t = 0; t < width; ++t) lane[t] = t;
        const Vector scaled = x * beta;
        body(lane < static_cast<std::int32_t>(count) ? scaled : lowest, j, count);
    });
}

template <int width>
void edge_totals_rows(const Csr& a, const float* scores, float beta, EdgeTotals to, bool accumulate, std::int64_t first,
                      std::int64_t last) {
    using Vector = GemmVector<width>;
    for (std::int64_t i = first; i < last; ++i) {
        const float* of_row = scores + a.row_start[i];
        const std::int64_t n = a.row_start[i + 1] - a.row_start[i];
        if (n == 0 && accumulate) continue;
        const bool before = accumulate && to.total[i] > 0;
        const float known = before ? to.largest[i] : -__builtin_inff();
        Vector most = known - Vector{};
        for_scaled<width>(of_row, n, beta,
                          [&](const Vector& x, std::int64_t, std::int64_t) { most = x > most ? x : most; });
        float largest = most[0];
        for (int t = 1; t < width; ++t) largest = most[t] > largest ? most[t] : largest;
        Vector sums = {};
        for_scaled<width>(of_row, n, beta, [&](const Vector& x, std::int64_t, std::int64_t) {
            sums += exponential<width>(x - largest);
        });
        const Vector below = known - largest - Vector{};
        const float total = sum_of_lanes<width>(sums, 1)[0];
        to.total[i] = before ? to.total[i] * exponential<width>(below)[0] + total : total;
        to.largest[i] = n > 0 || before ? largest : 0;
    }
}

template <int width>
void edge_softmax_rows(const Csr& a, const float* scores, float beta, EdgeTotals of, float* weights, std::int64_t first,
                       std::int64_t last) {
    using Vector = GemmVector<width>;
    for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t begin = a.row_start[i];
        const float largest = of.largest[i], inverse = 1 / of.total[i];
        for_scaled<width>(
            scores + begin, a.row_start[i + 1] - begin, beta, [&](const Vector& x, std::int64_t j, std::int64_t count) {
                store_vector<width>(weights + begin + j, exponential<width>(x - largest) * inverse, count);
            });
    }
}

template <int width>
void edge_softmax_back_rows(const Csr& a, const EdgeSoftmaxBack& back, float beta, bool accumulate, std::int64_t first,
                            std::int64_t last) {
    using Vector = GemmVector<width>;
    for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t begin = a.row_start[i], n = a.row_start[i + 1] - begin;
        const float inner = back.inner[i];
        Vector sum = {};
        const auto add = [&](std::int64_t e, const Vector& gradient, const Vector& weight, const Vector& score,
                             std::int64_t count) {
            const Vector d = weight * (gradient - inner);
            sum += d * score;
            store_vector<width>(back.gradient + e, d * beta, count);
        };
        std::int64_t e = begin;
        for (; e + width <= begin + n; e += width) {
            add(e, load_vector<Vector>(back.gradient + e), load_vector<Vector>(back.weights + e),
                load_vector<Vector>(back.scores + e), width);
        }
        if (const std::int64_t rest = begin + n - e; rest > 0) {
            // Weights behind the end are 0.
            add(e, load_part<Vector>(back.gradient + e, rest), load_part<Vector>(back.weights + e, rest),
                load_part<Vector>(back.scores + e, rest), rest);
        }
        const float of_row = sum_of_lanes<width>(sum, 1)[0];
        back.of_beta[i] = accumulate ? back.of_beta[i] + of_row : of_row;
    }
}

// Doubles hold the squares of all floats and 1 / every length, which floats do not.
template <int width>
void head_squares_row(const float* x, std::int64_t n, Heads heads, std::int64_t count, float* out) {
    using Vector = GemmVector<width>;
    using Doubles = typename DoubleVectorOf<width>::type;
    for (std::int64_t k = 0; k < count; ++k) out[k] = 0;
    for_heads(n, heads, [&](std::int64_t begin, std::int64_t end, std::int64_t k) {
        Doubles sums = {};
        const auto add = [&](const Vector& part) {
            const Doubles wide = __builtin_convertvector(part, Doubles);
            sums += wide * wide;
        };
        std::int64_t j = begin;
        for (; j + width <= end; j += width) add(load_vector<Vector>(x + j));
        if (j < end) add(load_part<Vector>(x + j, end - j));
        double sum = 0;
        for (int t = 0; t < width; ++t) sum += sums[t];
        out[k] = static_cast<float>(__builtin_sqrt(__builtin_sqrt(sum)));
    });
}

// 1 / the length of a row whose SquareSum is given, or 0.
double inverse_length(float root) {
    const auto wide = static_cast<double>(root);
    return wide == 0 ? 0 : 1 / (wide * wide);
}

// Nearly every row can be multiplied in floats, which is faster. Calls scale(by) with a double where floats would lose
// bits.
template <class Scale>
void scale_by(double by, const Scale& scale) {
    constexpr double least = 1e-37, most = 1e37;
    if (by >= least && by <= most) {
        scale(static_cast<float>(by));
    } else {
        scale(by);
    }
}

void head_unit_row(const float* x, const float* squares, std::int64_t n, Heads heads, float* out) {
    for_heads(n, heads, [&](std::int64_t begin, std::int64_t end, std::int64_t k) {
        scale_by(inverse_length(squares[k]), [&](auto by) {
            for (std::int64_t j = begin; j < end; ++j)
                out[j] = static_cast<float>(static_cast<decltype(by)>(x[j]) * by);
        });
    });
}

void head_unit_back_row(const float* gradient, const float* unit, const float* inner, const float* squares,
                        std::int64_t n, Heads heads, float* x) {
    for_heads(n, heads, [&](std::int64_t begin, std::int64_t end, std::int64_t k) {
        scale_by(inverse_length(squares[k]), [&](auto by) {
            using Scalar = decltype(by);
            const auto along = static_cast<Scalar>(inner[k]);
            for (std::int64_t j = begin; j < end; ++j) {
                const Scalar across = static_cast<Scalar>(gradient[j]) - along * static_cast<Scalar>(unit[j]);
                x[j] += static_cast<float>(across * by);
            }
        });
    });
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
