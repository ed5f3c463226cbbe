// The rows of an SpMM. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/cpu/row_walk.hpp"
#include "kernels/cpu/spmm_memory.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/views.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// The policy of SumRow: what an entry contributes (`edge`, one scalar) and how it and a row of B are reduced. Sums start
// from 0.
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

// A row of C = A B, or C += A B, as row_walk.hpp wants it.
template <class Policy, class Element>
struct SumRow : RowEntries {
    Policy policy;
    Dense<const Element> operand;
    Matrix result;
    const float* row_scale;      // null: ones
    bool unaligned;              // whether rows of B begin within a cache line
    float scale = 1;             // of the row's sum
    const Element* b = nullptr;  // from the strip's first column on
    float* c = nullptr;

    SumRow(const Csr& a, Policy edges, Dense<const Element> from, Matrix to)
        : RowEntries{a.column},
          policy(edges),
          operand(from),
          result(to),
          row_scale(a.row_scale),
          unaligned(cpu::unaligned(from)) {}

    std::int64_t columns() const { return result.columns; }
    std::int64_t bytes() const { return result.columns * std::int64_t{sizeof(Element)}; }
    template <int width>
    bool can_stream() const {
        return cpu::can_stream<width>(result);
    }
    void fetch_results(std::int64_t i) const { fetch_row(result, i); }
    void begin(std::int64_t i) {
        if (row_scale != nullptr) scale = row_scale[i];
        b = operand.data;
        c = result.data + i * result.stride;
    }
    void advance(std::int64_t columns) { b += columns, c += columns; }

    template <int width, int... n>
    void strip(std::int64_t columns, Store store, std::integer_sequence<int, n...>) const {
        using Vector = typename VectorOf<width>::type;
        constexpr int count = sizeof...(n);
        const std::int64_t offset[count] = {vector_offset<width>(n, count, columns)...};
        Vector sum[count] = {};
        for (std::int64_t k = first; k < last; ++k) {
            const Element* next = b + column[k + ahead] * operand.stride;
            (prefetch<width, n>(next), ...);
            if (unaligned) __builtin_prefetch(next + columns - 1);
            const Element* x = b + column[k] * operand.stride;
            const float edge = policy.edge(k, column[k]);
            (Policy::reduce(sum[n], load<width>(x + offset[n]), edge), ...);
        }
        ((sum[n] *= scale), ...);
        if (store == Store::nontemporal) return (stream<width>(c + offset[n], sum[n]), ...);
        // The last two vectors may overlap: all of C is read before any of it is written.
        if (store == Store::add) ((sum[n] += load<width>(c + offset[n])), ...);
        (__builtin_memcpy(c + offset[n], &sum[n], sizeof(Vector)), ...);
    }
};

template <int width, int strips, class Element>
void spmm_rows(const Csr& a, Dense<const Element> b, Matrix c, Store store, std::int64_t first, std::int64_t last) {
    if (a.value != nullptr) {
        walk_rows<width, strips>(a, SumRow(a, StoredValues{a.value}, b, c), store, first, last);
    } else if (a.column_scale != nullptr) {
        walk_rows<width, strips>(a, SumRow(a, ColumnScales{a.column_scale}, b, c), store, first, last);
    } else {
        walk_rows<width, strips>(a, SumRow(a, Ones{}, b, c), store, first, last);
    }
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
