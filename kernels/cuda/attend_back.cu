// The gradients of the sources of attention. They are linear in G_v: with P the sum of alpha G_v over the edges
// whose s + t is positive, and N that over all others, in both of which dropout takes part, dL / dh_u = P + N and dL /
// ds_u = <P + slope * N, h_u> - the sum of alpha * leaky'(s + t) * inner_v. So no edge needs a product of rows of its
// own.
#include "kernels/cuda/attention_shares.cuh"
#include "kernels/cuda/cuda.hpp"

namespace gnnplan::kernels::cuda {
namespace {

// With `stored`, scores are those that attend has stored, and nothing is drawn.
template <bool stored>
struct AttendBackRule {
    static constexpr int results = 1;
    static constexpr int scalars = 1;
    AttendBackOperands in;  // of the columns and heads of a slice, like `to`
    AttendBackResults to;
    EdgeDropout dropout;
    float slope;
    float kept_scale;           // of weights whose stored score says that they survive
    bool aligned, own_aligned;  // rows of results and of h
    bool first_of_heads;        // the first slice of their columns; others add to what is there of dL / ds
    bool accumulate;
    bool adds;  // to what is there of a row, of dL / ds at least
    bool passes_empty_rows;

    template <int width, int vectors>
    using Row = FoundRow<width, vectors, results, scalars>;

    // Finds the weights of a batch of edges, from entry `first` on; returns the sum of alpha * slope * inner over those
    // of the lane.
    template <int width, int vectors>
    __device__ float weigh(const Walker<width, vectors>& walker, std::int64_t first, int count, float s) const {
        float x[most_heads] = {}, log_total[most_heads] = {}, inner[most_heads] = {};
        GNNPLAN_UNROLL
        for (int i = 0; i < most_heads; ++i) {
            if (!walker.has(i, count)) continue;
            const std::int32_t v = walker.column(i);
            x[i] =
                stored ? row_of(in.scores, first + walker.nth(i))[walker.head] : s + row_of(in.target, v)[walker.head];
            log_total[i] = row_of(in.log_total, v)[walker.head];
            inner[i] = row_of(in.inner, v)[walker.head];
        }
        float sum = 0;
        GNNPLAN_UNROLL
        for (int i = 0; i < most_heads; ++i) {
            if (!walker.has(i, count)) continue;
            const float weight = expf(leaky(x[i], slope) - log_total[i]);
            sum = fmaf(x[i] > 0 ? weight : slope * weight, inner[i], sum);
            if constexpr (stored) {
                walker.put(i, x[i], dropped_of(x[i]) ? 0.0F : weight * kept_scale);
            } else {
                walker.put(i, dropout, x[i], weight);
            }
        }
        __syncwarp();
        return sum;
    }
    // <P + slope * N, h_u> of the head that the lane weighs for, of x[0] = P + N and x[1] = N.
    template <int width, int vectors>
    __device__ float products(const Walker<width, vectors>& walker, const float (&x)[2][vectors][width],
                              std::int64_t row) const {
        float own[vectors][width];
        load_row(walker.lane, row_of(in.h, row), own_aligned, own);
        float of_vector[vectors] = {};
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v)
                of_vector[k] = fmaf(fmaf(slope - 1, x[1][k][v], x[0][k][v]), own[k][v], of_vector[k]);
        }
        float of_head = 0;
        for (int head = 0; head < to.source.columns; ++head) {
            float mine = 0;
            GNNPLAN_UNROLL
            for (int k = 0; k < vectors; ++k) {
                if (walker.turn == 0 && walker.lane.inside(k) && walker.head_of[k] == head) mine += of_vector[k];
            }
            mine = warp_sum(mine);
            if (head == walker.head) of_head = mine;
        }
        return of_head;
    }
    template <int width, int vectors>
    __device__ Row<width, vectors> find(const Walker<width, vectors>& walker, std::int64_t row,
                                        const std::int32_t* columns, std::int64_t first, int left) const {
        float x[2][vectors][width] = {};
        float inner = 0;
        const float s = walker.weighs && !stored ? row_of(in.source, row)[walker.head] : 0.0F;
        for (; left > 0; left -= warp_lanes, first += warp_lanes) {
            const int count = walker.take(dropout, row, columns + first, left);
            inner += weigh(walker, first, count, s);
            walker.add_rows(in.gradient, count, x);
        }
        inner = walker.sum_of_edges(inner);
        walker.sum_turns(x);
        Row<width, vectors> found = {};
        found.of_head[0] = products(walker, x, row) - (first_of_heads ? inner : 0.0F);
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v) found.x[0][k][v] = x[0][k][v];
        }
        return found;
    }
    template <int width, int vectors>
    __device__ Row<width, vectors> old(const Walker<width, vectors>& walker, std::int64_t row, bool wanted) const {
        Row<width, vectors> held = {};
        if (wanted) load_row(walker.lane, row_of(to.h, row), aligned, held.x[0]);
        if (walker.weighs && (wanted || !first_of_heads)) held.of_head[0] = row_of(to.source, row)[walker.head];
        return held;
    }
    template <int width, int vectors>
    __device__ void join(const Walker<width, vectors>&, Row<width, vectors>& held,
                         const Row<width, vectors>& part) const {
        held.of_head[0] += part.of_head[0];
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v) held.x[0][k][v] += part.x[0][k][v];
        }
    }
    template <int width, int vectors>
    __device__ void keep(const Walker<width, vectors>& walker, const Row<width, vectors>& held, std::int64_t row,
                         bool /*ends*/) const {
        __syncwarp();  // all lanes have loaded what was there
        walker.store(held.x[0], row_of(to.h, row), aligned);
        if (walker.stores_head()) row_of(to.source, row)[walker.head] = held.of_head[0];
    }
};

template <bool stored>
void attend_back_with(const Csr& a, const AttendBackOperands& in, const AttendBackResults& to, const Attention& how,
                      bool accumulate) {
    AttentionDropout drawn = how.dropout;
    if (stored) drawn.probability = 0;
    const auto rule_of = [&](const HeadSlice& slice, std::int64_t p) {
        const auto wide = [&](auto m) { return columns_of(m, slice.first_column, slice.columns); };
        const auto by_heads = [&](auto m) { return columns_of(m, slice.first_head, slice.heads); };
        AttendBackOperands some = {.gradient = wide(in.gradient),
                                   .log_total = by_heads(in.log_total),
                                   .inner = by_heads(in.inner),
                                   .h = wide(in.h)};
        if (stored) some.scores = by_heads(in.scores);
        if (!stored) some.target = by_heads(in.target), some.source = by_heads(in.source);
        return AttendBackRule<stored>{.in = some,
                                      .to = {wide(to.h), by_heads(to.source)},
                                      .dropout = EdgeDropout(drawn, slice, true),
                                      .slope = how.slope,
                                      .kept_scale = EdgeDropout(how.dropout, slice, true).scale,
                                      .aligned = is_aligned(to.h),
                                      .own_aligned = is_aligned(in.h),
                                      .first_of_heads = slice.first_of_heads,
                                      .accumulate = accumulate || p > 0,
                                      .adds = accumulate || p > 0 || !slice.first_of_heads,
                                      .passes_empty_rows = accumulate || p > 0};
    };
    walk_edges("attend_back", a, how, to.source.columns, to.h.columns, attention_width(how.heads, {in.gradient}),
               rule_of);
}

}  // namespace

void attend_back(const Csr& a, const AttendBackOperands& in, const AttendBackResults& to, const Attention& how,
                 bool accumulate) {
    if (a.rows == 0) return;
    if (in.scores.data != nullptr) {
        attend_back_with<true>(a, in, to, how, accumulate);
    } else {
        attend_back_with<false>(a, in, to, how, accumulate);
    }
}

}  // namespace gnnplan::kernels::cuda
