// The columns of a row of attention: sums that are weighted head by head. Part of vector_body.hpp, whose linkage rules
// hold here too.
//
// Columns of one head have one weight; a vector whose columns are of several takes them from the edge's weights, which
// are as many at most as the vector has lanes.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/cpu/attend_scores.hpp"
#include "kernels/cpu/row_walk.hpp"
#include "kernels/cpu/spmm_memory.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// The columns that are sure to be of one head: those of a strip, of a vector, or no more than one.
enum class OneHead : std::uint8_t { strip, vector, column };

// VectorHeads reads one number per head, and gives each column of a vector the number of its head.
template <int width, OneHead of_one>
struct VectorHeads {
    using Vector = typename VectorOf<width>::type;
    typename IntegerVectorOf<width>::type lane = {};  // beyond the first head
    std::int32_t first;

    explicit VectorHeads(const std::int32_t* head_of) : first(head_of[0]) {
        if constexpr (of_one == OneHead::column) {
            __builtin_memcpy(&lane, head_of, sizeof lane);
            lane -= first;
        }
    }
    // Reads `width` numbers from the first head's on unless all columns are of one.
    Vector of(const float* numbers) const {
        const float* from = numbers + first;
        if constexpr (of_one != OneHead::column) return *from - Vector{};  // in every lane
#if defined(__AVX512F__)
        if constexpr (width == 16) return _mm512_maskz_permutexvar_ps(0xffff, (__m512i)lane, _mm512_loadu_ps(from));
#endif
#if defined(__AVX2__)
        if constexpr (width == 8) return _mm256_permutevar8x32_ps(_mm256_loadu_ps(from), (__m256i)lane);
        if constexpr (width == 4) return _mm_permutevar_ps(_mm_loadu_ps(from), (__m128i)lane);
#endif
        Vector x;
        for (int t = 0; t < width; ++t) x[t] = from[lane[t]];
        return x;
    }
};
template <OneHead of_one>
struct VectorHeads<1, of_one> {
    std::int32_t first;
    explicit VectorHeads(const std::int32_t* head_of) : first(head_of[0]) {}
    float of(const float* numbers) const { return numbers[first]; }
};

// The columns of a row, as row_walk.hpp's strips: sums over a batch of rows of the operand times weights, and if there
// are two, times other weights. Derived says how they are stored: before<width> adds earlier results, keep<width>
// writes, and end comes after all vectors of a strip. The last two may overlap, so that all is read before any of it is
// written.
template <class Derived, class Operands, OneHead of_one, bool two>
struct WeightedRow : RowEntries {
    ConstMatrix operand;
    std::int64_t period;
    const float* weight;
    const float* other_weight;
    const std::int32_t* head_of_column;
    Operands operands;
    bool unaligned;
    bool fetches = false;      // the operands, too: in the first strip
    const float* x = nullptr;  // from the strip's first column on
    const std::int32_t* head_of = nullptr;

    WeightedRow(const Csr& a, ConstMatrix from, const std::int32_t* heads, std::int64_t lanes, const Scores& weights,
                const Scores& others, const Operands& of_edges)
        : RowEntries{a.column},
          operand(from),
          period(lanes),
          weight(weights.of),
          other_weight(others.of),
          head_of_column(heads),
          operands(of_edges),
          unaligned(cpu::unaligned(from)) {}

    void begin() { x = operand.data, head_of = head_of_column, fetches = true; }
    void advance(std::int64_t columns) { x += columns, head_of += columns, fetches = false; }

    template <int width, int... n>
    void strip(std::int64_t columns, Store store, std::integer_sequence<int, n...>) const {
        using Vector = typename VectorOf<width>::type;
        using PickedHeads = VectorHeads<width, of_one>;
        constexpr int count = sizeof...(n);
        const std::int64_t offset[count] = {vector_offset<width>(n, count, columns)...};
        const PickedHeads heads[count] = {PickedHeads(head_of + offset[n])...};
        Vector sum[count] = {};
        Vector other[count] = {};
        const float* w = weight;
        const float* v = other_weight;
        for (std::int64_t k = first; k < last; ++k, w += period, v += period) {
            const float* next = x + column[k + ahead] * operand.stride;
            (prefetch<width, n>(next), ...);
            if (unaligned) __builtin_prefetch(next + columns - 1);
            if (fetches) operands.fetch(column[k + ahead]);
            const float* row = x + column[k] * operand.stride;
            const auto add = [&](int i) __attribute__((always_inline)) {
                const PickedHeads& head = heads[of_one == OneHead::strip ? 0 : i];
                const Vector here = load<width>(row + offset[i]);
                sum[i] += head.of(w) * here;
                if constexpr (two) other[i] += head.of(v) * here;
            };
            (add(n), ...);
        }
        const auto* derived = static_cast<const Derived*>(this);
        (derived->template before<width>(offset[n], heads[n], sum[n], other[n], store), ...);
        (derived->template keep<width>(offset[n], heads[n], sum[n], other[n]), ...);
        derived->end(columns);
    }
};

// Walks the columns of the row at work, of which there are at least `width`.
template <int width, int strips, class Row>
void walk_columns(Row& row, std::int64_t columns, Store store) {
    constexpr std::int64_t strip_columns = std::int64_t{width} * strips;
    const std::int64_t full = (columns - width) / strip_columns;
    const std::int64_t rest = columns - full * strip_columns;
    row.begin();
    for (std::int64_t s = 0; s < full; ++s) {
        strip_of<width, strips>(row, strip_columns, store);
        row.advance(strip_columns);
    }
    last_strip<width, Row>(rest, std::make_integer_sequence<int, strips + 1>{})(row, rest, store);
}

// Whether the columns of each vector that walk_columns takes are of one head.
template <int width>
bool vectors_have_one_head(const std::int32_t* head_of, std::int64_t columns) {
    bool one = head_of[columns - width] == head_of[columns - 1];
    for (std::int64_t j = 0; j + width <= columns; j += width) one = one && head_of[j] == head_of[j + width - 1];
    return one;
}

// Whether the columns of every part are of one head. Parts are of `part` columns, and the last, which takes the rest,
// is at least `least` columns wide.
inline bool have_one_head(const std::int32_t* head_of, std::int64_t columns, std::int64_t part, std::int64_t least) {
    std::int64_t j = 0;
    for (; columns - j >= part + least; j += part) {
        if (head_of[j] != head_of[j + part - 1]) return false;
    }
    return head_of[j] == head_of[columns - 1];
}

// Calls walk(width, strips, OneHead) with integral constants, for so many columns.
template <int width, int strips, class Walk>
void with_vectors(const std::int32_t* head_of, std::int64_t columns, const Walk& walk) {
    using Width = std::integral_constant<int, width>;
    using Strips = std::integral_constant<int, strips>;
    if constexpr (width > 1) {
        if (columns > 0 && columns < width) return with_vectors<width / 2, 2>(head_of, columns, walk);
        if (columns > 0 && !vectors_have_one_head<width>(head_of, columns))
            return walk(Width{}, Strips{}, std::integral_constant<OneHead, OneHead::column>{});
        if (columns > 0 && !have_one_head(head_of, columns, std::int64_t{width} * strips, width))
            return walk(Width{}, Strips{}, std::integral_constant<OneHead, OneHead::vector>{});
        return walk(Width{}, Strips{}, std::integral_constant<OneHead, OneHead::strip>{});
    }
    walk(Width{}, Strips{}, std::integral_constant<OneHead, OneHead::vector>{});
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
