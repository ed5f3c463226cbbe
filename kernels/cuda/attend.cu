// The sums of attention. A warp goes through the edges of a row once: where a batch of them has a greater score than
// all before, what it has of the row is rescaled (online softmax: Milakov and Gimelshein, "Online normalizer
// calculation for softmax", 2018), and so it is where parts of rows are joined.
#include "kernels/cuda/attention_shares.cuh"
#include "kernels/cuda/cuda.hpp"

#include <cmath>

namespace gnnplan::kernels::cuda {
namespace {

// The factor that makes exp(e - largest) of exp(e - before).
__device__ float rescaled(float before, float largest) { return before == largest ? 1.0F : expf(before - largest); }

// Results are the sum and, with `keeps`, the part of it whose s + t is not positive.
template <bool keeps>
struct AttendRule {
    static constexpr int results = keeps ? 2 : 1;
    static constexpr int scalars = 3;
    enum { largest, total, negative };  // of BasicAttendResults; total is 0 where there was no edge yet
    AttendOperands in;                  // of the columns and heads of a slice, like `to`
    AttendResults to;
    EdgeDropout dropout;
    float slope;
    bool aligned;      // rows of results
    bool keeps_heads;  // in this slice of their columns
    bool keeps_scores;
    bool accumulate = false, last = false;
    bool adds = false;  // to what is there of a row
    bool passes_empty_rows = false;

    template <int width, int vectors>
    using Row = FoundRow<width, vectors, results, scalars>;

    template <int width, int vectors>
    __device__ static Row<width, vectors> nothing() {
        Row<width, vectors> row = {};
        row.of_head[largest] = -INFINITY;
        return row;
    }
    template <int width, int vectors>
    __device__ static void rescale(const Walker<width, vectors>& walker, Row<width, vectors>& row, float now) {
        const float factor = rescaled(row.of_head[largest], now);
        row.of_head[largest] = now;
        row.of_head[total] *= factor;
        row.of_head[negative] *= factor;
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            const float of_vector = walker.of_vector(factor, k);
            GNNPLAN_UNROLL
            for (int r = 0; r < results; ++r) {
                GNNPLAN_UNROLL
                for (int v = 0; v < width; ++v) row.x[r][k][v] *= of_vector;
            }
        }
    }

    // Finds the weights of a batch of edges, from entry `first` on, relative to the largest score of the row so far.
    template <int width, int vectors>
    __device__ void weigh(const Walker<width, vectors>& walker, std::int64_t first, int count, float t,
                          Row<width, vectors>& row) const {
        float x[most_heads] = {};
        float now = row.of_head[largest];
        GNNPLAN_UNROLL
        for (int i = 0; i < most_heads; ++i) {
            if (!walker.has(i, count)) continue;
            x[i] = row_of(in.source, walker.column(i))[walker.head] + t;
            now = fmaxf(now, leaky(x[i], slope));
        }
        now = walker.largest_of_edges(now);
        if (__any_sync(all_lanes, now > row.of_head[largest])) rescale(walker, row, now);
        GNNPLAN_UNROLL
        for (int i = 0; i < most_heads; ++i) {
            if (!walker.has(i, count)) continue;
            const float weight = expf(leaky(x[i], slope) - now);
            row.of_head[total] += weight;
            if (!(x[i] > 0)) row.of_head[negative] += weight;
            walker.put(i, dropout, x[i], weight);
            if (keeps_scores) row_of(to.scores, first + walker.nth(i))[walker.head] = stored_of(x[i], !walker.keeps(i));
        }
        __syncwarp();
    }
    template <int width, int vectors>
    __device__ Row<width, vectors> find(const Walker<width, vectors>& walker, std::int64_t row,
                                        const std::int32_t* columns, std::int64_t first, int left) const {
        auto found = nothing<width, vectors>();
        const float t = walker.weighs ? row_of(in.target, row)[walker.head] : 0.0F;
        for (; left > 0; left -= warp_lanes, first += warp_lanes) {
            const int count = walker.take(dropout, row, columns + first, left);
            weigh(walker, first, count, t, found);
            walker.add_rows(in.h, count, found.x);
        }
        found.of_head[total] = walker.sum_of_edges(found.of_head[total]);
        found.of_head[negative] = walker.sum_of_edges(found.of_head[negative]);
        walker.sum_turns(found.x);
        return found;
    }
    template <int width, int vectors>
    __device__ Row<width, vectors> old(const Walker<width, vectors>& walker, std::int64_t row, bool wanted) const {
        auto held = nothing<width, vectors>();
        if (!wanted) return held;
        load_row(walker.lane, row_of(to.sum, row), aligned, held.x[0]);
        if constexpr (keeps) load_row(walker.lane, row_of(to.by_target, row), aligned, held.x[1]);
        if (!walker.weighs) return held;
        held.of_head[total] = row_of(to.total, row)[walker.head];
        if (held.of_head[total] > 0) held.of_head[largest] = row_of(to.log_total, row)[walker.head];
        if constexpr (keeps) held.of_head[negative] = row_of(to.negative_share, row)[walker.head];
        return held;
    }
    template <int width, int vectors>
    __device__ void join(const Walker<width, vectors>& walker, Row<width, vectors>& held,
                         Row<width, vectors> part) const {
        const float now = fmaxf(held.of_head[largest], part.of_head[largest]);
        rescale(walker, held, now);
        rescale(walker, part, now);
        held.of_head[total] += part.of_head[total];
        held.of_head[negative] += part.of_head[negative];
        GNNPLAN_UNROLL
        for (int r = 0; r < results; ++r) {
            GNNPLAN_UNROLL
            for (int k = 0; k < vectors; ++k) {
                GNNPLAN_UNROLL
                for (int v = 0; v < width; ++v) held.x[r][k][v] += part.x[r][k][v];
            }
        }
    }
    // Ends a row once all of its entries are added.
    template <int width, int vectors>
    __device__ void finish(const Walker<width, vectors>& walker, Row<width, vectors>& held) const {
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            const float of_all = walker.of_vector(held.of_head[total], k);
            const float share = walker.of_vector(held.of_head[negative], k) / of_all;
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v) {
                if (of_all == 0) continue;
                held.x[0][k][v] /= of_all;
                if constexpr (keeps)
                    held.x[1][k][v] = (slope - 1) * (held.x[1][k][v] / of_all - share * held.x[0][k][v]);
            }
        }
        held.of_head[largest] += logf(held.of_head[total]);
    }
    template <int width, int vectors>
    __device__ void keep(const Walker<width, vectors>& walker, Row<width, vectors> held, std::int64_t row,
                         bool ends) const {
        if (last && ends) finish(walker, held);
        __syncwarp();  // all lanes have loaded what was there
        walker.store(held.x[0], row_of(to.sum, row), aligned);
        if constexpr (keeps) walker.store(held.x[1], row_of(to.by_target, row), aligned);
        if (!keeps_heads || !walker.stores_head()) return;
        row_of(to.total, row)[walker.head] = held.of_head[total];
        row_of(to.log_total, row)[walker.head] = held.of_head[total] != 0 ? held.of_head[largest] : 0.0F;
        if constexpr (keeps) row_of(to.negative_share, row)[walker.head] = held.of_head[negative];
    }
};

template <bool keeps>
AttendRule<keeps> rule_of(const HeadSlice& slice, const AttendOperands& in, const AttendResults& to,
                          const Attention& how) {
    const auto wide = [&](auto m) { return columns_of(m, slice.first_column, slice.columns); };
    const auto by_heads = [&](auto m) { return columns_of(m, slice.first_head, slice.heads); };
    AttendResults some = {wide(to.sum), by_heads(to.log_total), by_heads(to.total)};
    if constexpr (keeps) some.by_target = wide(to.by_target), some.negative_share = by_heads(to.negative_share);
    const bool stores = to.scores.data != nullptr;
    if (stores) some.scores = by_heads(to.scores);
    return {.in = {wide(in.h), by_heads(in.source), by_heads(in.target)},
            .to = some,
            .dropout = EdgeDropout(how.dropout, slice, false),
            .slope = how.slope,
            .aligned = is_aligned(to.sum) && (!keeps || is_aligned(to.by_target)),
            .keeps_heads = slice.last_of_heads,
            .keeps_scores = stores && slice.last_of_heads};
}

template <bool keeps>
void attend_with(const Csr& a, const AttendOperands& in, const AttendResults& to, const Attention& how, bool accumulate,
                 bool last) {
    walk_edges("attend", a, how, in.target.columns, to.sum.columns, attention_width(how.heads, {in.h}),
               [&](const HeadSlice& slice, std::int64_t p) {
                   auto rule = rule_of<keeps>(slice, in, to, how);
                   rule.accumulate = rule.adds = accumulate || p > 0;
                   rule.last = last && p == a.panels - 1;
                   rule.passes_empty_rows = rule.accumulate && !rule.last;
                   return rule;
               });
}

}  // namespace

void attend(const Csr& a, const AttendOperands& in, const AttendResults& to, const Attention& how, bool accumulate,
            bool last) {
    if (a.rows == 0) return;
    if (to.negative_share.data != nullptr) {
        attend_with<true>(a, in, to, how, accumulate, last);
    } else {
        attend_with<false>(a, in, to, how, accumulate, last);
    }
}

}  // namespace gnnplan::kernels::cuda
