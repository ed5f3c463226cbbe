// The rows of a maximum over neighbours and of its gradient. Part of vector_body.hpp, whose linkage rules hold here
// too.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "kernels/cpu/row_walk.hpp"
#include "kernels/cpu/spmm_memory.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/views.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// to += x where the condition holds: one masked addition where the target has masks, elsewhere no blend.
template <class Condition, class Vector>
void add_where(const Condition& condition, Vector& to, const Vector& x) {
#ifdef __AVX512F__
    to = condition ? to + x : to;
#else
    to += condition ? x : Vector{};
#endif
}

// A row of Table::spmm_max, as row_walk.hpp wants it. Earlier results are taken as they are: a tie count of 0 says that
// there was none.
struct MaxRow : RowEntries {
    ConstMatrix operand;
    Matrix maxima, ties;
    bool unaligned;
    const float* b = nullptr;  // from the strip's first column on
    float* y = nullptr;
    float* n_of_y = nullptr;

    MaxRow(const Csr& a, ConstMatrix from, Matrix largest, Matrix counts)
        : RowEntries{a.column}, operand(from), maxima(largest), ties(counts), unaligned(cpu::unaligned(from)) {}

    std::int64_t columns() const { return maxima.columns; }
    std::int64_t bytes() const { return maxima.columns * std::int64_t{sizeof(float)}; }
    template <int width>
    bool can_stream() const {
        return cpu::can_stream<width>(maxima) && cpu::can_stream<width>(ties);
    }
    void fetch_results(std::int64_t i) const { fetch_row(maxima, i), fetch_row(ties, i); }
    void begin(std::int64_t i) {
        b = operand.data;
        y = maxima.data + i * maxima.stride;
        n_of_y = ties.data + i * ties.stride;
    }
    void advance(std::int64_t columns) { b += columns, y += columns, n_of_y += columns; }

    template <class Vector>
    static void reduce(Vector& largest, Vector& count, const Vector& x) {
        const auto greater = x > largest;
        const auto equal_or_greater = x >= largest;
        count = greater ? Vector{} : count;
        add_where(equal_or_greater, count, Vector{} + 1);
        largest = greater ? x : largest;
    }

    template <int width, int... n>
    void strip(std::int64_t columns, Store store, std::integer_sequence<int, n...>) const {
        using Vector = typename VectorOf<width>::type;
        constexpr int count = sizeof...(n);
        const std::int64_t offset[count] = {vector_offset<width>(n, count, columns)...};
        const Vector lowest = Vector{} - std::numeric_limits<float>::infinity();
        Vector largest[count] = {((void)n, lowest)...};
        Vector found[count] = {};
        if (store == Store::add) {
            ((found[n] = load<width>(n_of_y + offset[n])), ...);
            ((largest[n] = found[n] > Vector{} ? load<width>(y + offset[n]) : lowest), ...);
        }
        for (std::int64_t k = first; k < last; ++k) {
            const float* next = b + column[k + ahead] * operand.stride;
            (prefetch<width, n>(next), ...);
            if (unaligned) __builtin_prefetch(next + columns - 1);
            const float* x = b + column[k] * operand.stride;
            (reduce(largest[n], found[n], load<width>(x + offset[n])), ...);
        }
        ((largest[n] = found[n] > Vector{} ? largest[n] : Vector{}), ...);
        if (store == Store::nontemporal) {
            return (stream<width>(y + offset[n], largest[n]), ...), (stream<width>(n_of_y + offset[n], found[n]), ...);
        }
        (__builtin_memcpy(y + offset[n], &largest[n], sizeof(Vector)), ...);
        (__builtin_memcpy(n_of_y + offset[n], &found[n], sizeof(Vector)), ...);
    }
};

// A row of Table::spmm_max_back, as row_walk.hpp wants it.
struct MaxBackRow : RowEntries {
    ConstMatrix gradient, maxima, own;
    Matrix result;
    bool unaligned;
    const float* g = nullptr;  // of the column operands, from the strip's first column on
    const float* y = nullptr;
    const float* x = nullptr;
    float* c = nullptr;

    MaxBackRow(const Csr& a, ConstMatrix shares, ConstMatrix largest, ConstMatrix rows, Matrix to)
        : RowEntries{a.column},
          gradient(shares),
          maxima(largest),
          own(rows),
          result(to),
          unaligned(cpu::unaligned(shares) || cpu::unaligned(largest)) {}

    std::int64_t columns() const { return result.columns; }
    std::int64_t bytes() const { return 2 * result.columns * std::int64_t{sizeof(float)}; }
    template <int width>
    bool can_stream() const {
        return cpu::can_stream<width>(result);
    }
    void fetch_results(std::int64_t i) const { fetch_row(result, i); }
    void begin(std::int64_t i) {
        g = gradient.data;
        y = maxima.data;
        x = own.data + i * own.stride;
        c = result.data + i * result.stride;
    }
    void advance(std::int64_t columns) { g += columns, y += columns, x += columns, c += columns; }

    template <int width, int... n>
    void strip(std::int64_t columns, Store store, std::integer_sequence<int, n...>) const {
        using Vector = typename VectorOf<width>::type;
        constexpr int count = sizeof...(n);
        const std::int64_t offset[count] = {vector_offset<width>(n, count, columns)...};
        const Vector mine[count] = {load<width>(x + offset[n])...};
        Vector sum[count] = {};
        for (std::int64_t k = first; k < last; ++k) {
            const float* next_g = g + column[k + ahead] * gradient.stride;
            const float* next_y = y + column[k + ahead] * maxima.stride;
            (prefetch<width, n>(next_g), ...);
            (prefetch<width, n>(next_y), ...);
            if (unaligned) __builtin_prefetch(next_g + columns - 1), __builtin_prefetch(next_y + columns - 1);
            const float* share = g + column[k] * gradient.stride;
            const float* largest = y + column[k] * maxima.stride;
            (add_where(mine[n] == load<width>(largest + offset[n]), sum[n], load<width>(share + offset[n])), ...);
        }
        if (store == Store::nontemporal) return (stream<width>(c + offset[n], sum[n]), ...);
        // The last two vectors may overlap: all of C is read before any of it is written.
        if (store == Store::add) ((sum[n] += load<width>(c + offset[n])), ...);
        (__builtin_memcpy(c + offset[n], &sum[n], sizeof(Vector)), ...);
    }
};

template <int width, int strips>
void spmm_max_rows(const Csr& a, ConstMatrix b, Matrix maxima, Matrix ties, Store store, std::int64_t first,
                   std::int64_t last) {
    walk_rows<width, strips>(a, MaxRow(a, b, maxima, ties), store, first, last);
}

template <int width, int strips>
void spmm_max_back_rows(const Csr& a, ConstMatrix gradient, ConstMatrix maxima, ConstMatrix own, Matrix c, Store store,
                        std::int64_t first, std::int64_t last) {
    walk_rows<width, strips>(a, MaxBackRow(a, gradient, maxima, own, c), store, first, last);
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
