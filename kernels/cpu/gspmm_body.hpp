// The rows of generalised SpMM: every operator, reduction and form of the numbers of entries as one instance of the same
// policy. Part of vector_body.hpp, whose linkage rules hold here too.
#pragma once

#include <cstdint>

#include "kernels/cpu/operator_row.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// Copies of the one number that each entry has: they lie side by side, and a row of the result repeats what they reduce to.
template <int width, bool sums>
float reduced_numbers(const float* numbers, std::int64_t count, float direction) {
    using Policy = Operator<EdgeOp::copy_lhs, sums>;
    using Vector = typename VectorOf<width>::type;
    float held = Policy::template start<float>();
    std::int64_t k = 0;
    if constexpr (width > 1) {
        if (count >= width) {
            Vector lanes = Policy::template start<Vector>();
            for (; k + width <= count; k += width) Policy::take(lanes, load<width>(numbers + k), 0.0F, direction);
            for (int t = 0; t < width; ++t) held = sums ? held + lanes[t] : lanes[t] > held ? lanes[t] : held;
        }
    }
    for (; k < count; ++k) Policy::take(held, numbers[k], 0.0F, direction);
    return held * direction;
}

template <int width>
void repeat(float x, float* row, std::int64_t columns, bool past_caches) {
    if (!past_caches) {
        for (std::int64_t j = 0; j < columns; ++j) row[j] = x;
        return;
    }
    const auto all = x - typename VectorOf<width>::type{};
    for (std::int64_t j = 0; j < columns; j += width) stream<width>(row + j, all);
}

template <int width, bool sums>
void repeated_rows(const GspmmBlock<float>& block, float direction, Store store, std::int64_t first,
                   std::int64_t last) {
    const Csr& a = block.a;
    const bool past_caches = store == Store::nontemporal && can_stream<width>(block.out);
    for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t begin = a.row_start[i], count = a.row_start[i + 1] - begin;
        if (store == Store::add && count == 0) continue;
        float* const row = block.out.data + i * block.out.stride;
        float x = reduced_numbers<width, sums>(block.edge.data + begin, count, direction);
        if (store == Store::add && sums) x += row[0];
        if (store == Store::add && !sums) x = row[0] * direction > x * direction ? row[0] : x;
        repeat<width>(x, row, block.out.columns, past_caches);
    }
    if (past_caches) finish_streaming();
}

// Calls walk(numbers of entries, in the form that they have).
template <EdgeOp op, class Element, class Walk>
void with_numbers(const GspmmBlock<Element>& block, const Walk& walk) {
    const ValueRows rows{block.edge.data, block.edge.stride};
    const StoredValues values{block.edge.data};
    if constexpr (op == EdgeOp::add) {
        const float sign = block.op == EdgeOp::sub ? -1.0F : 1.0F;
        block.edge_rows ? walk(Signed<ValueRows>{rows, sign}) : walk(Signed<StoredValues>{values, sign});
    } else if constexpr (op == EdgeOp::copy_lhs) {
        walk(NoNumbers{});
    } else if constexpr (op == EdgeOp::copy_rhs) {
        walk(rows);
    } else {
        block.edge_rows ? walk(rows) : walk(values);
    }
}

template <int width, int strips, EdgeOp op, bool sums, class Element>
void operator_rows(const GspmmBlock<Element>& block, Store store, std::int64_t first, std::int64_t last) {
    with_numbers<op>(block, [&]<class Edges>(Edges edges) {
        OperatorRow<op, sums, Edges, Element> row(block.a, edges, block.x, block.out);
        row.scale = block.reduce == ReduceOp::min ? -1.0F : 1.0F;
        walk_rows<width, strips>(block.a, row, store, first, last);
    });
}

template <int width, int strips, bool sums, class Element>
void reduced_rows(const GspmmBlock<Element>& block, Store store, std::int64_t first, std::int64_t last) {
    switch (block.op) {
        case EdgeOp::copy_lhs: return operator_rows<width, strips, EdgeOp::copy_lhs, sums>(block, store, first, last);
        case EdgeOp::copy_rhs: return;
        case EdgeOp::add:
        case EdgeOp::sub: return operator_rows<width, strips, EdgeOp::add, sums>(block, store, first, last);
        case EdgeOp::mul: return operator_rows<width, strips, EdgeOp::mul, sums>(block, store, first, last);
        case EdgeOp::div: return operator_rows<width, strips, EdgeOp::div, sums>(block, store, first, last);
    }
}

// Of copies of the numbers of entries.
template <int width, int strips, bool sums>
void copied_rows(const GspmmBlock<float>& block, Store store, std::int64_t first, std::int64_t last) {
    const float direction = block.reduce == ReduceOp::min ? -1.0F : 1.0F;
    if (!block.edge_rows) return repeated_rows<width, sums>(block, direction, store, first, last);
    operator_rows<width, strips, EdgeOp::copy_rhs, sums>(block, store, first, last);
}

template <int width, int strips>
void gspmm_rows(const GspmmBlock<float>& block, Store store, std::int64_t first, std::int64_t last) {
    const bool sums = block.reduce == ReduceOp::sum;
    if (block.op == EdgeOp::copy_rhs) {
        sums ? copied_rows<width, strips, true>(block, store, first, last)
             : copied_rows<width, strips, false>(block, store, first, last);
    } else {
        sums ? reduced_rows<width, strips, true>(block, store, first, last)
             : reduced_rows<width, strips, false>(block, store, first, last);
    }
}

// Of sums that read vertices.
template <int width, int strips>
void gspmm_rows_bf16(const GspmmBlock<Bf16>& block, Store store, std::int64_t first, std::int64_t last) {
    reduced_rows<width, strips, true>(block, store, first, last);
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
