// How a warp finds sums over the edges of attention and what goes back from them: for some heads, no more than share a
// counter of their dropout, and some columns of these heads.
//
// A matrix is cut into shares as for products (spmm_walk.cuh), and each warp has one. It takes the edges of a row as
// many at a time as it has lanes. First each lane has an edge, and draws which of its heads are dropped; then each
// lane has a head, and weighs several edges for it; at last each lane has one or two vectors of the columns, and adds
// the rows of the dense operand by those weights, which lie in shared memory. Where a row of the operand does not need
// all lanes, the warp adds several rows at a time. So no weight and no draw of an edge is found twice for the same
// columns.
// A Rule computes the result of a row. It finds what some edges of a row give (find), joins that to what is there of
// the row (join), and loads and stores what is there (old, keep). Rows that lie in several shares have parts, as in
// products.
#pragma once

#include "kernels/attention.hpp"
#include "kernels/cuda/random.cuh"
#include "kernels/cuda/spmm_shares.cuh"
#include "kernels/cuda/sums.cuh"

#include <cmath>
#include <cstdint>

namespace gnnplan::kernels::cuda {

inline constexpr int most_heads = dropout_group;

// The heads and the columns of one kernel.
struct HeadSlice {
    std::int64_t first_head;  // column of matrices by heads
    int heads;
    int head_lanes, edges;  // powers of two: lanes that an edge has when it is weighed, and edges of a warp then
    std::int64_t first_column;
    int columns;
    int column_lanes, turns;             // the same of rows of the columns when they are added
    std::int64_t before;                 // columns of the first head that come before the slice
    std::int64_t head_columns;           // Heads::columns
    bool first_of_heads, last_of_heads;  // of the slices of these heads
};

// Some edges of a row.
struct EdgeBatch {
    float weight[warp_lanes * most_heads];  // of edge e, head k: weight[e * head_lanes + k]
    std::int32_t column[warp_lanes];
    std::uint32_t kept[warp_lanes];  // bit k: head k is not dropped
};

__device__ inline float leaky(float x, float slope) { return x > 0 ? x : slope * x; }

// As stored_score() and is_dropped().
__device__ inline float stored_of(float x, bool dropped) {
    const std::uint32_t bits = (__float_as_uint(x) & ~1U) | (x > 0 ? 0U : 0x80000000U);
    return __uint_as_float(bits | (dropped ? 1U : 0U));
}
__device__ inline bool dropped_of(float stored) { return (__float_as_uint(stored) & 1U) != 0; }

// The dropout of the heads of a slice, in which the row of an edge is its source or its target.
struct EdgeDropout {
    AttentionDropout how;
    std::uint32_t threshold;
    float scale;                 // of the weights that survive
    std::int64_t groups, group;  // of heads: how many, and which is the slice's
    int first_draw;
    bool row_is_source;

    EdgeDropout(const AttentionDropout& of, const HeadSlice& slice, bool is_source)
        : how(of),
          threshold(dropout_threshold(of.probability)),
          scale(static_cast<float>(1 / (1 - static_cast<double>(of.probability)))),
          groups((of.all_heads + dropout_group - 1) / dropout_group),
          group((of.first_head + slice.first_head) / dropout_group),
          first_draw(static_cast<int>((of.first_head + slice.first_head) % dropout_group)),
          row_is_source(is_source) {}

    __device__ StreamKey stream() const { return how.probability > 0 ? attention_stream(how) : StreamKey{}; }
    // EdgeBatch::kept
    __device__ std::uint32_t kept(StreamKey stream, std::int64_t row, std::int32_t column) const {
        if (how.probability == 0) return ~std::uint32_t{0};
        const std::int64_t of_row = how.row_ids[row], of_column = how.column_ids[column];
        const std::int64_t source = row_is_source ? of_row : of_column;
        const Words words = dropout_draws(stream, row_is_source ? of_column : of_row, source * groups + group);
        std::uint32_t kept = 0;
        GNNPLAN_UNROLL
        for (int k = 0; k < dropout_group; ++k) {
            const std::uint32_t draw = words.v[k / 2] >> (16 * (k % 2)) & 0xffffU;
            kept |= (draw < threshold ? 0U : 1U) << k;
        }
        return kept >> first_draw;
    }
};

// The result of a row or a part of it: `results` numbers for each column, and `scalars` for the head that a lane weighs
// for.
template <int width, int vectors, int results, int scalars>
struct FoundRow {
    float x[results][vectors][width];
    float of_head[scalars];
};

// A lane of a warp.
template <int width, int vectors>
struct Walker {
    EdgeBatch* batch;
    StreamKey stream;
    int edge, edges;  // it weighs the edges `edge`, edge + edges, ... of a batch
    int head, head_lanes;
    bool weighs;                // and there is such a head
    int turn, turns;            // it adds the rows of the edges `turn`, turn + turns, ...
    Lane<width, vectors> lane;  // in these columns
    int head_of[vectors];

    // Takes the next edges of a row, of the `left` ones in these columns of the matrix; returns how many.
    __device__ int take(const EdgeDropout& dropout, std::int64_t row, const std::int32_t* columns, int left) const {
        const int count = smaller(warp_lanes, left);
        const int e = lane_of_warp();
        __syncwarp();
        if (e < count) {
            const std::int32_t column = columns[e];
            batch->column[e] = column;
            batch->kept[e] = dropout.kept(stream, row, column);
        }
        __syncwarp();
        return count;
    }
    // The i-th edge that the lane weighs, and whether there is one.
    __device__ int nth(int i) const { return edge + i * edges; }
    __device__ bool has(int i, int count) const { return weighs && nth(i) < count; }
    __device__ std::int32_t column(int i) const { return batch->column[nth(i)]; }
    __device__ bool keeps(int i) const { return (batch->kept[nth(i)] >> head & 1U) != 0; }
    // Weights are not negative; a sign says that s + t is not positive.
    __device__ void put(int i, const EdgeDropout& dropout, float x, float weight) const {
        put(i, x, weight * (keeps(i) ? dropout.scale : 0.0F));
    }
    __device__ void put(int i, float x, float kept) const {
        batch->weight[i * warp_lanes + lane_of_warp()] = x > 0 ? kept : -kept;
    }

    // Adds the rows of b that the edges of a batch meet: to x[0] those of all edges, and to x[1] those of edges whose
    // s + t is not positive.
    template <int results>
    __device__ void add_rows(const ConstMatrix& b, int count, float (&x)[results][vectors][width]) const {
        const int mine = (count - turn + turns - 1) * lane.lanes / warp_lanes;  // divided by turns, a power of two
        for (int t = 0; t < mine; t += entries_at_once) {
            std::int32_t rows[entries_at_once];
            GNNPLAN_UNROLL
            for (int s = 0; s < entries_at_once; ++s)
                rows[s] = batch->column[smaller((t + s) * turns + turn, count - 1)];
            const auto fetched = gather(lane, b, rows, mine - t, 0.0F);
            GNNPLAN_UNROLL
            for (int s = 0; s < entries_at_once; ++s) {
                if (t + s >= mine) continue;
                GNNPLAN_UNROLL
                for (int k = 0; k < vectors; ++k) {
                    const float weight = batch->weight[((t + s) * turns + turn) * head_lanes + head_of[k]];
                    GNNPLAN_UNROLL
                    for (int v = 0; v < width; ++v) {
                        const float of_column = fetched.x[s][k].x[v];
                        x[0][k][v] = fmaf(fabsf(weight), of_column, x[0][k][v]);
                        if constexpr (results > 1) x[1][k][v] = fmaf(fmaxf(-weight, 0.0F), of_column, x[1][k][v]);
                    }
                }
            }
        }
    }

    // Over the lanes that weigh for the same head.
    __device__ float largest_of_edges(float x) const {
        for (int distance = head_lanes; distance < warp_lanes; distance *= 2)
            x = fmaxf(x, __shfl_xor_sync(all_lanes, x, distance));
        return x;
    }
    __device__ float sum_of_edges(float x) const {
        for (int distance = head_lanes; distance < warp_lanes; distance *= 2)
            x += __shfl_xor_sync(all_lanes, x, distance);
        return x;
    }
    // Over the lanes that have the same columns.
    template <int results>
    __device__ void sum_turns(float (&x)[results][vectors][width]) const {
        for (int distance = lane.lanes; distance < warp_lanes; distance *= 2) {
            GNNPLAN_UNROLL
            for (int r = 0; r < results; ++r) {
                GNNPLAN_UNROLL
                for (int k = 0; k < vectors; ++k) {
                    GNNPLAN_UNROLL
                    for (int v = 0; v < width; ++v) x[r][k][v] += __shfl_xor_sync(all_lanes, x[r][k][v], distance);
                }
            }
        }
    }
    // The number that the lanes of vector k's head have.
    __device__ float of_vector(float of_head, int k) const { return __shfl_sync(all_lanes, of_head, head_of[k]); }
    __device__ void store(const float (&from)[vectors][width], float* to, bool aligned) const {
        if (turn == 0) store_row(lane, from, to, aligned);
    }
    // Whether the lane stores what is of its head.
    __device__ bool stores_head() const { return weighs && edge == 0; }
};

template <int width, int vectors>
__device__ Walker<width, vectors> walker_of(const HeadSlice& slice, EdgeBatch* batch, StreamKey stream) {
    const int index = lane_of_warp();
    Walker<width, vectors> to;
    to.batch = batch, to.stream = stream;
    to.head = index & (slice.head_lanes - 1), to.head_lanes = slice.head_lanes;
    to.edge = index / slice.head_lanes, to.edges = slice.edges;
    to.weighs = to.head < slice.heads;
    to.turn = index / slice.column_lanes, to.turns = slice.turns;
    to.lane = {index & (slice.column_lanes - 1), slice.column_lanes, slice.columns};
    GNNPLAN_UNROLL
    for (int k = 0; k < vectors; ++k) {
        const auto head = static_cast<int>(quotient(slice.before + to.lane.column(k), slice.head_columns));
        to.head_of[k] = smaller(head, slice.heads - 1);
    }
    return to;
}

}  // namespace gnnplan::kernels::cuda
