// The rows of attention. Part of vector_body.hpp, whose linkage rules hold here too.
//
// A row's edges are taken in batches. First come their weights (attended_row.hpp), then the sums that are weighted with
// them (weighted_row.hpp), strip by strip of the columns.
#pragma once

#include <cstdint>

#include "kernels/cpu/attended_row.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/cpu/weighted_row.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// The columns of a row of Table::attend.
template <int lanes, OneHead of_one, bool two>
struct AttendColumns : WeightedRow<AttendColumns<lanes, of_one, two>, EdgeOperands<2>, of_one, two> {
    using Base = WeightedRow<AttendColumns<lanes, of_one, two>, EdgeOperands<2>, of_one, two>;
    const AttendBlock& block;
    const AttendedRow<lanes>& state;
    std::int64_t v = 0;
    bool rescales = false;
    bool divides = false;  // the row is done
    bool streams = false;

    AttendColumns(const AttendBlock& of, const EdgeLayout<lanes>& layout, const AttendedRow<lanes>& row)
        : Base(of.a, of.in.h, of.head_of, layout.period, row.weight, row.negative, row.operands()),
          block(of),
          state(row) {}

    template <int width, class Vector>
    [[gnu::always_inline]] void before(std::int64_t j, const VectorHeads<width, of_one>& heads, Vector& sum,
                                       Vector& other, Store store) const {
        if (store != Store::add) return;
        Vector z = load<width>(at(block.to.sum, j));
        if (rescales) z *= heads.of(state.rescale.of);
        sum += z;
        if constexpr (two) {
            Vector negative = load<width>(at(block.to.by_target, j));
            if (rescales) negative *= heads.of(state.rescale.of);
            other += negative;
        }
    }
    template <int width, class Vector>
    [[gnu::always_inline]] void keep(std::int64_t j, const VectorHeads<width, of_one>& heads, Vector& sum,
                                     Vector& other) const {
        if (divides) {
            const Vector inverse = heads.of(state.inverse.of);
            sum *= inverse;
            if constexpr (two) other = (block.slope - 1) * (other * inverse - heads.of(state.share.of) * sum);
        }
        if (streams) {
            stream<width>(at(block.to.sum, j), sum);
            if constexpr (two) stream<width>(at(block.to.by_target, j), other);
        } else {
            __builtin_memcpy(at(block.to.sum, j), &sum, sizeof sum);
            if constexpr (two) __builtin_memcpy(at(block.to.by_target, j), &other, sizeof other);
        }
    }
    void end(std::int64_t /*columns*/) const {}

private:
    // Column j of the strip.
    float* at(Matrix matrix, std::int64_t j) const {
        return matrix.data + v * matrix.stride + (this->x - this->operand.data) + j;
    }
};

// Entries of a row from the one at work to the one that is prefetched; none where there are not so many more.
inline std::int64_t entries_ahead(const Csr& a, std::int64_t row_end, std::int64_t bytes) {
    const std::int64_t ahead = prefetch_distance(bytes < 1 ? 1 : bytes);
    return row_end + ahead <= a.row_start[a.rows] ? ahead : 0;
}

template <int lanes, int width, int strips, OneHead of_one, bool two>
void attend_rows_by(const AttendBlock& block, std::int64_t first_row, std::int64_t last_row) {
    const Csr& a = block.a;
    const EdgeLayout<lanes> layout(block.in.source.columns);
    const std::int64_t columns = block.to.sum.columns;
    AttendedRow<lanes> state(block, layout);
    AttendColumns<lanes, of_one, two> row(block, layout, state);
    const bool can =
        block.streams && can_stream<width>(block.to.sum) && (!two || can_stream<width>(block.to.by_target));
    for (row.v = first_row; row.v < last_row; ++row.v) {
        std::int64_t k = a.row_start[row.v];
        const std::int64_t end = a.row_start[row.v + 1];
        if (k == end && block.accumulate && !block.last) continue;
        row.ahead = entries_ahead(a, end, columns * std::int64_t{sizeof(float)});
        state.begin(row.v);
        Store store = block.accumulate ? Store::add : Store::write;
        do {
            const std::int64_t count = end - k < layout.batch() ? end - k : layout.batch();
            row.first = k;
            row.rescales = count > 0 && state.weigh(a.column + k, count, row.v);
            if (block.to.scores.data != nullptr && count > 0) state.store(k, count);
            row.last = k += count;
            if (k == end) state.finish(row.v);
            row.divides = k == end && block.last;
            row.streams = can && row.divides && store == Store::write;
            if (columns > 0) walk_columns<width, strips>(row, columns, store);
            store = Store::add;
        } while (k < end);
    }
    if (can) finish_streaming();
}

template <int lanes, int strips, int pairs>
void attend_rows(const AttendBlock& block, std::int64_t first_row, std::int64_t last_row) {
    const std::int64_t columns = block.to.sum.columns;
    if (block.to.by_target.data != nullptr) {
        with_vectors<lanes, pairs>(block.head_of, columns, [&](auto width, auto count, auto of_one) {
            attend_rows_by<lanes, width, count, of_one, true>(block, first_row, last_row);
        });
    } else {
        with_vectors<lanes, strips>(block.head_of, columns, [&](auto width, auto count, auto of_one) {
            attend_rows_by<lanes, width, count, of_one, false>(block, first_row, last_row);
        });
    }
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
