// One policy for every sum, maximum and minimum over the entries of a row: an operator, a reduction, and where the
// numbers of entries come from. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/cpu/row_walk.hpp"
#include "kernels/cpu/spmm_memory.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/operators.hpp"
#include "kernels/views.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// What entries have: at(k, column) is what entry k has, whose of<width>(offset) is that of a vector of columns, or one
// number for all of them; advance() goes to the next strip of columns.
struct Number {
    float x;
    template <int width>
    float of(std::int64_t) const {
        return x;
    }
};
struct StoredValues {
    const float* value;
    Number at(std::int64_t k, std::int64_t) const { return {value[k]}; }
    void advance(std::int64_t) {}
};
struct ColumnScales {
    const float* scale;
    Number at(std::int64_t, std::int64_t column) const { return {scale[column]}; }
    void advance(std::int64_t) {}
};
struct NoNumbers {
    Number at(std::int64_t, std::int64_t) const { return {0}; }
    void advance(std::int64_t) {}
};
struct ValueRows {
    const float* from;
    std::int64_t stride;
    struct Row {
        const float* x;
        template <int width>
        typename VectorOf<width>::type of(std::int64_t offset) const {
            return load<width>(x + offset);
        }
    };
    Row at(std::int64_t k, std::int64_t) const { return {from + k * stride}; }
    void advance(std::int64_t columns) { from += columns; }
};

// Numbers with the sign that makes a sum of two a difference.
template <class Numbers>
struct Signed {
    Numbers numbers;
    float sign;
    struct Entry {
        decltype(Numbers{}.at(0, 0)) entry;
        float sign;
        template <int width>
        auto of(std::int64_t offset) const {
            return sign * entry.template of<width>(offset);
        }
    };
    Entry at(std::int64_t k, std::int64_t column) const { return {numbers.at(k, column), sign}; }
    void advance(std::int64_t columns) { numbers.advance(columns); }
};

// x / e by products with 1 / e, which one division makes for a whole row: the error of a quotient is found exactly with
// fused operations, and corrected (Markstein 1990). None of 200 million random quotients differed from a division; a
// zero may lose its sign. Where e or 1 / e is near the ends of what floats are it is a division; where x is, or is not
// finite, the correction is no number or does not matter.
template <class Vector, class Edge>
Vector quotient(const Vector& x, const Edge& e) {
#ifdef __FMA__
    if constexpr (std::is_same_v<Edge, float> && !std::is_same_v<Vector, float>) {
        const float size = e < 0 ? -e : e;
        if (size > 0x1p-100F && size < 0x1p100F) {
            const float inverse = 1 / e;
            const Vector first = x * inverse;
            const Vector error = x - first * e;
            const Vector corrected = first + error * inverse;
            return corrected == corrected ? corrected : first;
        }
    }
#endif
    return x / e;
}

// Takes what `op` makes of x and e, a vector or a number, into what the reduction holds. There are two: sums, and
// maxima of numbers times `direction`, which are minima where that is -1. A difference is an `add` of Signed numbers.
// So a quarter of the code does what all operators and reductions by themselves would.
template <EdgeOp op, bool sums>
struct Operator {
    static_assert(op != EdgeOp::sub);
    template <class Vector, class Edge>
    static Vector combined(const Vector& x, const Edge& e) {
        if constexpr (op == EdgeOp::copy_rhs) return e;
        if constexpr (op == EdgeOp::add) return x + e;
        if constexpr (op == EdgeOp::mul) return x * e;
        if constexpr (op == EdgeOp::div) return quotient(x, e);
        return x;
    }
    template <class Vector, class Edge>
    static void take(Vector& held, const Vector& x, const Edge& e, float direction) {
        if constexpr (sums && op == EdgeOp::mul) {
            held += x * e;  // in one expression, of which every compiler makes a fused multiplication and addition
        } else if constexpr (sums) {
            held += combined(x, e);
        } else {
            constexpr bool scales = op == EdgeOp::mul || op == EdgeOp::div;  // a sign is e's as well
            const Vector found = scales ? combined(x, direction * e) : direction * combined(x, e);
            held = found > held ? found : held;
        }
    }
    template <class Vector>
    static Vector start() {
        return sums ? Vector{} : Vector{} - std::numeric_limits<float>::infinity();
    }
};

// A row of the result, as row_walk.hpp wants it. Sums are added to what is there; maxima begin with what is there.
template <EdgeOp op, bool sums, class Edges, class Element>
struct OperatorRow : RowEntries {
    using Policy = Operator<op, sums>;

    Edges numbers;
    Dense<const Element> operand;
    Matrix result;
    bool unaligned;                    // whether rows of the operand begin within a cache line
    float scale = 1;                   // of the row's sum; of maxima it is the direction
    const float* row_scale = nullptr;  // of sums; null: ones
    const Element* b = nullptr;        // from the strip's first column on
    float* c = nullptr;
    Edges edges;

    OperatorRow(const Csr& a, Edges of_entries, Dense<const Element> from, Matrix to)
        : RowEntries{a.column},
          numbers(of_entries),
          operand(from),
          result(to),
          unaligned(cpu::unaligned(from)),
          edges(of_entries) {}

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
        edges = numbers;
    }
    void advance(std::int64_t columns) { b += columns, c += columns, edges.advance(columns); }

    template <int width, int... n>
    void strip(std::int64_t columns, Store store, std::integer_sequence<int, n...>) const {
        using Vector = typename VectorOf<width>::type;
        constexpr int count = sizeof...(n);
        const std::int64_t offset[count] = {vector_offset<width>(n, count, columns)...};
        Vector held[count] = {((void)n, Policy::template start<Vector>())...};
        if (!sums && store == Store::add) ((held[n] = scale * load<width>(c + offset[n])), ...);
        for (std::int64_t k = first; k < last; ++k) {
            if constexpr (reads_vertices(op)) {
                const Element* next = b + column[k + ahead] * operand.stride;
                (prefetch<width, n>(next), ...);
                if (unaligned) __builtin_prefetch(next + columns - 1);
                const Element* x = b + column[k] * operand.stride;
                const auto edge = edges.at(k, column[k]);
                (Policy::take(held[n], load<width>(x + offset[n]), edge.template of<width>(offset[n]), scale), ...);
            } else {
                const auto edge = edges.at(k, column[k]);
                (Policy::take(held[n], Vector{}, edge.template of<width>(offset[n]), scale), ...);
            }
        }
        ((held[n] *= scale), ...);
        if (store == Store::nontemporal) return (stream<width>(c + offset[n], held[n]), ...);
        // The last two vectors may overlap: all of C is read before any of it is written.
        if (sums && store == Store::add) ((held[n] += load<width>(c + offset[n])), ...);
        (__builtin_memcpy(c + offset[n], &held[n], sizeof(Vector)), ...);
    }
};

}  // namespace
}  // namespace gnnplan::kernels::cpu
