// The rows of an SpMM. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/cpu/row_walk.hpp"
#include "kernels/cpu/spmm_memory.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/views.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// The factors of entries: of(k, column) is that of entry k, which is in `column`.
struct StoredValues {
    const float* value;
    float of(std::int64_t k, std::int64_t) const { return value[k]; }
};
struct ColumnScales {
    const float* scale;
    float of(std::int64_t, std::int64_t column) const { return scale[column]; }
};
struct NoFactors {};

// A row of the result, as row_walk.hpp wants it: the sum of its entries' rows of the operand times their factors.
template <class Factors, class Element>
struct SumRow : RowEntries {
    Factors factors;
    Dense<const Element> operand;
    Matrix result;
    bool unaligned;                    // whether rows of the operand begin within a cache line
    const float* row_scale = nullptr;  // of the sums; null: ones
    float scale = 1;                   // of this row's sum
    const Element* b = nullptr;        // from the strip's first column on
    float* c = nullptr;

    SumRow(const Csr& a, Factors of_entries, Dense<const Element> from, Matrix to)
        : RowEntries{a.column},
          factors(of_entries),
          operand(from),
          result(to),
          unaligned(cpu::unaligned(from)),
          row_scale(a.row_scale) {}

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
            if constexpr (std::is_same_v<Factors, NoFactors>) {
                ((sum[n] += load<width>(x + offset[n])), ...);
            } else {
                const float factor = factors.of(k, column[k]);
                // One expression, of which every compiler makes a fused multiplication and addition.
                ((sum[n] += load<width>(x + offset[n]) * factor), ...);
            }
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
    const auto walk = [&]<class Factors>(Factors factors) {
        walk_rows<width, strips>(a, SumRow<Factors, Element>(a, factors, b, c), store, first, last);
    };
    if (a.value != nullptr) {
        walk(StoredValues{a.value});
    } else if (a.column_scale != nullptr) {
        walk(ColumnScales{a.column_scale});
    } else {
        walk(NoFactors{});
    }
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
