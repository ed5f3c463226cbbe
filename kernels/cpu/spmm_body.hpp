// The rows of an SpMM, vectorised over columns with the result row in registers. Part of vector_body.hpp, whose linkage
// rules hold here too.
//
// A result row of n columns is cut into strips of `width * strip` columns. A strip's sums stay in registers while the
// row's nonzeros are walked once. The last strip takes the rest, at least one vector wide; its last vector is moved
// left until it ends at the row's end, so that it computes some of the strip's columns a second time (to the same
// value: every lane adds the nonzeros in their order) instead of leaving a scalar tail. Rows narrower than a vector use
// a narrower one.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/views.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// GCC and Clang lower these to whatever registers the target has.
template <int width>
struct VectorOf {
    typedef float type __attribute__((vector_size(width * sizeof(float))));
};
template <>
struct VectorOf<1> {
    using type = float;
};

// Rows of B come from anywhere in memory, so those needed this many nonzeros ahead are prefetched.
constexpr std::int64_t prefetch_distance = 16;
constexpr std::int64_t line_floats = 16;

struct RowOperands {
    const std::int32_t* column;
    const float* value;
    const float* b;  // of the strip's first column
    std::int64_t b_stride;
};

// c[0 .. columns - 1] of one strip, columns in ((count - 1) * width, count * width] and >= width. Nonzeros first ..
// last
// - 1; the prefetch may look ahead to `end`.
template <int width, int... n>
void spmm_strip(const RowOperands& a, std::int64_t first, std::int64_t last, std::int64_t end, float* c,
                std::int64_t columns, bool accumulate, std::integer_sequence<int, n...>) {
    using Vector = typename VectorOf<width>::type;
    constexpr int count = sizeof...(n);
    const std::int64_t offset[count] = {(n + 1 < count ? std::int64_t{n} * width : columns - width)...};
    Vector sum[count] = {};
    if (accumulate) (__builtin_memcpy(&sum[n], c + offset[n], sizeof(Vector)), ...);
    const auto add = [&](Vector& to, const float* from, float value) {
        Vector x;
        __builtin_memcpy(&x, from, sizeof(Vector));
        to += value * x;
    };
    for (std::int64_t k = first; k < last; ++k) {
        if (k + prefetch_distance < end) {
            const float* ahead = a.b + a.column[k + prefetch_distance] * a.b_stride;
            for (std::int64_t j = 0; j < columns; j += line_floats) __builtin_prefetch(ahead + j);
        }
        const float* x = a.b + a.column[k] * a.b_stride;
        const float value = a.value[k];
        (add(sum[n], x + offset[n], value), ...);
    }
    (__builtin_memcpy(c + offset[n], &sum[n], sizeof(Vector)), ...);
}

template <int width>
using StripFunction = void (*)(const RowOperands&, std::int64_t, std::int64_t, std::int64_t, float*, std::int64_t,
                               bool);

template <int width, int count>
void spmm_strip_of(const RowOperands& a, std::int64_t first, std::int64_t last, std::int64_t end, float* c,
                   std::int64_t columns, bool accumulate) {
    spmm_strip<width>(a, first, last, end, c, columns, accumulate, std::make_integer_sequence<int, count>{});
}

// The strip function for the last `columns` columns, 0 < columns <= width * sizeof...(n).
template <int width, int... n>
StripFunction<width> last_strip(std::int64_t columns, std::integer_sequence<int, n...>) {
    constexpr StripFunction<width> by_count[] = {spmm_strip_of<width, n + 1>...};
    return by_count[(columns - 1) / width];
}

template <int width, int strip>
void spmm_rows(const Csr& a, ConstMatrix b, Matrix c, bool accumulate, std::int64_t first_row, std::int64_t last_row) {
    if constexpr (width > 1) {
        if (c.columns < width) {
            return spmm_rows<width / 2, 2>(a, b, c, accumulate, first_row, last_row);
        }
    }
    constexpr std::int64_t strip_columns = std::int64_t{width} * strip;
    const std::int64_t full = (c.columns - width) / strip_columns;
    const std::int64_t rest = c.columns - full * strip_columns;  // width .. strip_columns + width - 1
    const std::int64_t end = a.row_start[last_row];
    const auto last = last_strip<width>(rest, std::make_integer_sequence<int, strip + 1>{});
    for (std::int64_t i = first_row; i < last_row; ++i) {
        RowOperands operands = {a.column, a.value, b.data, b.stride};
        float* out = c.data + i * c.stride;
        for (std::int64_t s = 0; s < full; ++s) {
            spmm_strip_of<width, strip>(operands, a.row_start[i], a.row_start[i + 1], end, out, strip_columns,
                                        accumulate);
            operands.b += strip_columns;
            out += strip_columns;
        }
        last(operands, a.row_start[i], a.row_start[i + 1], end, out, rest, accumulate);
    }
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
