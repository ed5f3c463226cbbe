// The rows of the gradient of attention. Part of vector_body.hpp, whose linkage rules hold here too.
//
// The gradient of a source's number is, for head k, the sum of alpha slope (kept <G_v, h_u> - inner_v) over its edges.
// It is taken as <D, h_u> - the sum of alpha slope inner_v, with D the sum of alpha slope kept G_v: a row of sums with
// weights, like the one that goes back to h_u.
#pragma once

#include <cstdint>

#include "kernels/cpu/attend_body.hpp"
#include "kernels/cpu/vector.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// The state of a row of Table::attend_back while its edges are walked.
template <int width>
class SourceRow {
public:
    using Vector = GemmVector<width>;

    SourceRow(const AttendBackBlock& block, const EdgeLayout<width>& layout) : block_(block), layout_(layout) {}

    Scores weight, sloped;

    EdgeOperands<4> operands() const {
        EdgeOperands<4> all;
        all.set(0, block_.in.log_total.data, block_.in.log_total.stride);
        all.set(1, block_.in.inner.data, block_.in.inner.stride);
        all.set(2, block_.in.target.data, block_.in.target.stride);
        all.set(3, block_.dropout.column_ids, 1);
        return all;
    }

    void begin(std::int64_t u) {
        if (stored()) {
            layout_.fill(0, source_);
        } else {
            layout_.spread(block_.in.source.data + u * block_.in.source.stride, source_);
        }
        layout_.fill(0, of_inner_);
        for (std::int64_t k = 0; k < layout_.heads; ++k)
            sum_[k] = block_.accumulate ? block_.to.source.data[u * block_.to.source.stride + k] : 0;
    }

    // The weights of a batch, which begins with entry `first` of row u.
    void weigh(std::int64_t first, std::int64_t count, std::int64_t u) {
        const std::int32_t* column = block_.a.column + first;
        gather_numbers(layout_, block_.in.log_total, column, count, logs_);
        gather_numbers(layout_, block_.in.inner, column, count, inner_);
        const WeightDropout& dropout = block_.dropout;
        if (stored()) {
            load_scores(layout_, block_.in.scores, first, count, numbers_);
            if (dropout.scale > 0) find_kept(count);
        } else {
            gather_numbers(layout_, block_.in.target, column, count, numbers_);
            if (dropout.scale > 0) draw_kept(column, count, u);
        }
        layout_.for_parts([&](std::int64_t part) {
            if (dropout.scale > 0) {
                exponentials<true>(part, count);
            } else {
                exponentials<false>(part, count);
            }
        });
    }

    // Adds <D, h_u> of n columns from `column` on, of which D h_u is known.
    void add_products(const float* products, std::int64_t column, std::int64_t n, const Heads& heads) {
        for_heads(n, {heads.columns, heads.first + column}, [&](std::int64_t begin, std::int64_t end, std::int64_t k) {
            Vector sum = {};
            std::int64_t j = begin;
            for (; j + width <= end; j += width) sum += load_vector<Vector>(products + j);
            if (j < end) sum += load_part<Vector>(products + j, end - j);
            sum_[k] += sum_of_lanes<width>(sum, 1)[0];
        });
    }

    void finish(std::int64_t u) {
        layout_.for_parts([&](std::int64_t part) {
            const Vector sum = sum_of_lanes<width>(load<width>(of_inner_.of + part), layout_.period);
            __builtin_memcpy(of_inner_.of + part, &sum, sizeof sum);
        });
        float* to = block_.to.source.data + u * block_.to.source.stride;
        for (std::int64_t k = 0; k < layout_.heads; ++k) to[k] = sum_[k] - of_inner_.of[k];
    }

private:
    bool stored() const { return block_.in.scores.data != nullptr; }

    void draw_kept(const std::int32_t* column, std::int64_t count, std::int64_t u) {
        const WeightDropout& dropout = block_.dropout;
        const std::int64_t source = dropout.row_ids[u];
        weights_kept(
            layout_, dropout, count, [&](std::int64_t) { return source; },
            [&](std::int64_t e) { return dropout.column_ids[column[e]]; }, counters_, kept_);
    }
    void find_kept(std::int64_t count) {
        layout_.for_parts([&](std::int64_t part) {
            layout_.for_scores(part, count, [&](std::int64_t j, auto, const auto&) {
                const Vector factor = kept_of_stored<width>(load<width>(numbers_.of + j), block_.dropout.scale);
                __builtin_memcpy(kept_.of + j, &factor, sizeof factor);
            });
        });
    }

    template <bool drops>
    void exponentials(std::int64_t part, std::int64_t count) {
        const Vector zero = {};
        const Vector source = load<width>(source_.of + part);
        Vector of_inner = load<width>(of_inner_.of + part);
        layout_.for_scores(part, count, [&](std::int64_t j, auto whole, const auto& lanes) {
            const Vector x = load<width>(numbers_.of + j) + source;
            Vector w = exponential<width>(leaky(x, block_.slope) - load<width>(logs_.of + j));
            Vector s = x > 0.0F ? w : block_.slope * w;
            Vector of_edge = s * load<width>(inner_.of + j);
            if constexpr (!whole) of_edge = lanes != 0 ? of_edge : zero;
            of_inner += of_edge;
            if constexpr (drops) {
                const Vector scale = load<width>(kept_.of + j);
                w *= scale;
                s *= scale;
            }
            __builtin_memcpy(weight.of + j, &w, sizeof w);
            __builtin_memcpy(sloped.of + j, &s, sizeof s);
        });
        __builtin_memcpy(of_inner_.of + part, &of_inner, sizeof of_inner);
    }

    const AttendBackBlock& block_;
    EdgeLayout<width> layout_;
    Scores numbers_, logs_, inner_, kept_;
    HeadLanes source_, of_inner_;
    Counters counters_;
    float sum_[attend_heads] = {};
};

// The columns of a row of Table::attend_back.
template <int lanes, OneHead of_one>
struct SourceColumns : WeightedRow<SourceColumns<lanes, of_one>, EdgeOperands<4>, of_one, true> {
    using Base = WeightedRow<SourceColumns<lanes, of_one>, EdgeOperands<4>, of_one, true>;
    const AttendBackBlock& block;
    SourceRow<lanes>& state;
    std::int64_t u = 0;

    SourceColumns(const AttendBackBlock& of, const EdgeLayout<lanes>& layout, SourceRow<lanes>& row)
        : Base(of.a, of.in.gradient, of.head_of, layout.period, row.weight, row.sloped, row.operands()),
          block(of),
          state(row) {}

    template <int width, class Vector>
    [[gnu::always_inline]] void before(std::int64_t j, const VectorHeads<width, of_one>& /*heads*/, Vector& sum,
                                       Vector& other, Store store) const {
        other *= load<width>(block.in.h.data + u * block.in.h.stride + column() + j);
        if (store == Store::add) sum += load<width>(block.to.h.data + u * block.to.h.stride + column() + j);
    }
    template <int width, class Vector>
    [[gnu::always_inline]] void keep(std::int64_t j, const VectorHeads<width, of_one>& /*heads*/, const Vector& sum,
                                     const Vector& other) const {
        __builtin_memcpy(block.to.h.data + u * block.to.h.stride + column() + j, &sum, sizeof sum);
        __builtin_memcpy(products + j, &other, sizeof other);
    }
    void end(std::int64_t columns) const { state.add_products(products, column(), columns, block.heads); }

private:
    static constexpr std::int64_t most_columns = 256;  // of a strip

    std::int64_t column() const { return this->x - this->operand.data; }

    mutable float products[most_columns];
};

template <int lanes, int width, int strips, OneHead of_one>
void attend_back_rows_by(const AttendBackBlock& block, std::int64_t first_row, std::int64_t last_row) {
    const Csr& a = block.a;
    const EdgeLayout<lanes> layout(block.to.source.columns);
    const std::int64_t columns = block.to.h.columns;
    SourceRow<lanes> state(block, layout);
    SourceColumns<lanes, of_one> row(block, layout, state);
    for (row.u = first_row; row.u < last_row; ++row.u) {
        std::int64_t k = a.row_start[row.u];
        const std::int64_t end = a.row_start[row.u + 1];
        if (k == end && block.accumulate) continue;
        row.ahead = entries_ahead(a, end, columns * std::int64_t{sizeof(float)});
        state.begin(row.u);
        Store store = block.accumulate ? Store::add : Store::write;
        do {
            const std::int64_t count = end - k < layout.batch() ? end - k : layout.batch();
            row.first = k;
            if (count > 0) state.weigh(k, count, row.u);
            row.last = k += count;
            if (columns > 0) walk_columns<width, strips>(row, columns, store);
            store = Store::add;
        } while (k < end);
        state.finish(row.u);
    }
}

template <int lanes, int pairs>
void attend_back_rows(const AttendBackBlock& block, std::int64_t first_row, std::int64_t last_row) {
    with_vectors<lanes, pairs>(block.head_of, block.to.h.columns, [&](auto width, auto count, auto of_one) {
        attend_back_rows_by<lanes, width, count, of_one>(block, first_row, last_row);
    });
}

}  // namespace
}  // namespace gnnplan::kernels::cpu
