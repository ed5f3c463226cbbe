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

#include "kernels/cpu/spmm_memory.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/views.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// The policy of spmm_strip: what an entry contributes (`edge`, one scalar) and how it and a row of B are reduced. Sums
// start from 0.
struct StoredValues {
    const float* value;
    float edge(std::int64_t k, std::int64_t) const { return value[k]; }
    template <class Vector>
    static void reduce(Vector& sum, const Vector& x, float edge) {
        sum += edge * x;
    }
};
struct ColumnScales {
    const float* scale;
    float edge(std::int64_t, std::int64_t column) const { return scale[column]; }
    template <class Vector>
    static void reduce(Vector& sum, const Vector& x, float edge) {
        sum += edge * x;
    }
};
struct Ones {
    float edge(std::int64_t, std::int64_t) const { return 1; }
    template <class Vector>
    static void reduce(Vector& sum, const Vector& x, float) {
        sum += x;
    }
};

// The nonzeros of one row, and what they are multiplied with.
template <class Policy, class Element>
struct RowOperands {
    Policy policy;
    const std::int32_t* column;
    std::int64_t b_stride;
    bool unaligned;          // whether rows of B begin within a cache line
    std::int64_t ahead = 0;  // nonzeros from the one at work to the one that is prefetched
    std::int64_t first = 0;
    std::int64_t last = 0;
    float scale = 1;             // of the row's sum
    const Element* b = nullptr;  // from the strip's first column on
};

// Fetches the rows of C that are added to, some of them ahead of the one at work. Rows without nonzeros are skipped, so
// the next one is nowhere that hardware would expect.
class AddedRows {
public:
    AddedRows(const Csr& a, const Matrix& c, std::int64_t first, std::int64_t last)
        : a_(a), c_(c), next_(first), last_(last) {
        for (int i = 0; i < ahead; ++i) fetch_next();
    }
    void fetch_next() {
        while (next_ < last_ && a_.row_start[next_] == a_.row_start[next_ + 1]) ++next_;
        if (next_ == last_) return;
        const char* row = reinterpret_cast<const char*>(c_.row(next_++));
        const auto bytes = static_cast<std::int64_t>(sizeof(float)) * c_.columns;
        for (std::int64_t at = 0; at < bytes; at += bytes_of_line) __builtin_prefetch(row + at, 1);
    }

private:
    static constexpr int ahead = 4;

    const Csr& a_;
    const Matrix& c_;
    std::int64_t next_;
    std::int64_t last_;
};

// c[0 .. columns - 1] of one strip, columns in ((count - 1) * width, count * width] and >= width.
template <int width, class Policy, class Element, int... n>
void spmm_strip(const RowOperands<Policy, Element>& row, float* c, std::int64_t columns, Store store,
                std::integer_sequence<int, n...>) {
    using Vector = typename VectorOf<width>::type;
    constexpr int count = sizeof...(n);
    const std::int64_t offset[count] = {(n + 1 < count ? std::int64_t{n} * width : columns - width)...};
    Vector sum[count] = {};
    for (std::int64_t k = row.first; k < row.last; ++k) {
        const Element* next = row.b + row.column[k + row.ahead] * row.b_stride;
        (prefetch<width, n>(next), ...);
        if (row.unaligned) __builtin_prefetch(next + columns - 1);
        const Element* x = row.b + row.column[k] * row.b_stride;
        const float edge = row.policy.edge(k, row.column[k]);
        (Policy::reduce(sum[n], load<width>(x + offset[n]), edge), ...);
    }
    ((sum[n] *= row.scale), ...);
    if (store == Store::nontemporal) return (stream<width>(c + offset[n], sum[n]), ...);
    // The last two vectors may overlap: all of C is read before any of it is written.
    if (store == Store::add) ((sum[n] += load<width>(c + offset[n])), ...);
    (__builtin_memcpy(c + offset[n], &sum[n], sizeof(Vector)), ...);
}

template <class Policy, class Element>
using StripFunction = void (*)(const RowOperands<Policy, Element>&, float*, std::int64_t, Store);

template <int width, int count, class Policy, class Element>
void spmm_strip_of(const RowOperands<Policy, Element>& row, float* c, std::int64_t columns, Store store) {
    spmm_strip<width>(row, c, columns, store, std::make_integer_sequence<int, count>{});
}

// The strip function for the last `columns` columns, 0 < columns <= width * sizeof...(n).
template <int width, class Policy, class Element, int... n>
StripFunction<Policy, Element> last_strip(std::int64_t columns, std::integer_sequence<int, n...>) {
    constexpr StripFunction<Policy, Element> by_count[] = {spmm_strip_of<width, n + 1, Policy, Element>...};
    return by_count[(columns - 1) / width];
}

template <int width, int strip, class Policy, class Element>
void spmm_rows_of(const Csr& a, Policy policy, Dense<const Element> b, Matrix c, Store store, std::int64_t first_row,
                  std::int64_t last_row) {
    if constexpr (width > 1) {
        if (c.columns < width) return spmm_rows_of<width / 2, 2>(a, policy, b, c, store, first_row, last_row);
    }
    constexpr std::int64_t strip_columns = std::int64_t{width} * strip;
    const std::int64_t full = (c.columns - width) / strip_columns;
    const std::int64_t rest = c.columns - full * strip_columns;  // width .. strip_columns + width - 1
    const auto last = last_strip<width, Policy, Element>(rest, std::make_integer_sequence<int, strip + 1>{});
    if (store == Store::nontemporal && !can_stream<width>(c)) store = Store::write;
    RowOperands<Policy, Element> row{policy, a.column, b.stride, unaligned(b)};
    const std::int64_t ahead = prefetch_distance(c.columns * std::int64_t{sizeof(Element)});
    const std::int64_t end = a.row_start[a.rows];
    AddedRows added(a, c, first_row, store == Store::add ? last_row : first_row);
    for (std::int64_t i = first_row; i < last_row; ++i) {
        row.first = a.row_start[i];
        row.last = a.row_start[i + 1];
        row.ahead = row.last + ahead <= end ? ahead : 0;
        if (a.row_scale != nullptr) row.scale = a.row_scale[i];
        if (store == Store::add) {
            if (row.first == row.last) continue;
            added.fetch_next();
        }
        row.b = b.data;
        float* out = c.data + i * c.stride;
        for (std::int64_t s = 0; s < full; ++s) {
            spmm_strip_of<width, strip>(row, out, strip_columns, store);
            row.b += strip_columns;
            out += strip_columns;
        }
        last(row, out, rest, store);
    }
    if (store == Store::nontemporal) finish_streaming();
}

template <int width, int strip, class Element>
void spmm_rows(const Csr& a, Dense<const Element> b, Matrix c, Store store, std::int64_t first, std::int64_t last) {
    if (a.value != nullptr) {
        spmm_rows_of<width, strip>(a, StoredValues{a.value}, b, c, store, first, last);
    } else if (a.column_scale != nullptr) {
        spmm_rows_of<width, strip>(a, ColumnScales{a.column_scale}, b, c, store, first, last);
    } else {
        spmm_rows_of<width, strip>(a, Ones{}, b, c, store, first, last);
    }
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
