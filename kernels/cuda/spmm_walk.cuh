// How a kernel sweeps over the nonzeros of one panel of a sparse matrix: for products with a dense matrix, and for
// maxima over neighbours.
//
// A sweep has as many steps as the panel has nonzeros and rows: it takes the nonzeros in their order, and after those
// of a row it ends the row. The steps are cut into shares of equal numbers of steps, wherever that falls, so that long
// rows, short ones and empty ones all cost what they take (merge path: Merrill and Garland, "Merge-based parallel
// sparse matrix-vector multiplication", SC 2016; Yang, Buluc and Owens, "Design principles for sparse matrix
// multiplication on the GPU", Euro-Par 2018, for several columns).
//
// A share is computed by a group of 4 to 32 lanes of a warp, as many as have something to do: each lane has one or two
// vectors of the columns of the result, of as many floats as can be loaded together (four, two or one), and keeps its
// sums in registers. A group loads the columns and values of as many nonzeros as it has lanes with one load, and hands
// them round by shuffles; each lane gathers its vectors of four rows of the dense operand before it adds the first, so
// that several loads are under way at a time. The groups of a warp go from nonzero to nonzero together: all lanes reach
// every shuffle.
//
// A row that lies in several shares has a part from each. They are kept in the scratch, and a second kernel adds them
// in the order of the shares (kernels/cuda/spmm_join.cuh), so that the same bits come out whatever the order of the
// groups. No float is ever added to memory that others add to.
// A Sweep computes the result. It says what a row starts with (start), gathers what four nonzeros need (fetch), takes
// one of them (take), adds a part of a row to what is there of it (join), and loads and stores rows of the result (old,
// keep).
#pragma once

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/threads.cuh"
#include "kernels/views.hpp"

#include <cstdint>

namespace gnnplan::kernels::cuda {

inline constexpr int entries_at_once = 4;

// `vectors` vectors of `width` columns of a row of the result, for each of `results` results.
template <int width, int vectors, int results>
struct Held {
    float x[results][vectors][width];
};

// A lane in its group, and which of the first `columns` columns it has.
template <int width, int vectors>
struct Lane {
    int index, lanes;
    int columns;

    __device__ int column(int k) const { return (k * lanes + index) * width; }
    __device__ bool inside(int k) const { return column(k) < columns; }
    __device__ Run run(std::int64_t row, int k, bool aligned) const {
        const int last = smaller(width, columns - column(k));
        return {row, column(k), 0, last, aligned && last == width};
    }
};

// The vectors of a row that is `from`, of which the others are 0.
template <int width, int vectors>
__device__ void load_row(const Lane<width, vectors>& lane, const float* from, bool aligned,
                         float (&to)[vectors][width]) {
    GNNPLAN_UNROLL
    for (int k = 0; k < vectors; ++k) {
        Pack<width> pack = {};
        if (lane.inside(k)) pack = load<width>(from, lane.run(0, k, aligned));
        GNNPLAN_UNROLL
        for (int v = 0; v < width; ++v) to[k][v] = pack.x[v];
    }
}

template <int width, int vectors>
__device__ void store_row(const Lane<width, vectors>& lane, const float (&from)[vectors][width], float* to,
                          bool aligned) {
    GNNPLAN_UNROLL
    for (int k = 0; k < vectors; ++k) {
        Pack<width> pack;
        GNNPLAN_UNROLL
        for (int v = 0; v < width; ++v) pack.x[v] = from[k][v];
        if (lane.inside(k)) write_once<width>(to, lane.run(0, k, aligned), pack);
    }
}

// The vectors that a lane has of the rows of a dense operand that four nonzeros meet, `missing` where there are fewer.
template <int width, int vectors>
struct Gathered {
    Pack<width> x[entries_at_once][vectors];
};

template <int width, int vectors, class Element>
__device__ Gathered<width, vectors> gather(const Lane<width, vectors>& lane, const Dense<const Element>& from,
                                           const std::int32_t (&rows)[entries_at_once], int count, float missing) {
    Gathered<width, vectors> to;
    GNNPLAN_UNROLL
    for (int s = 0; s < entries_at_once; ++s) {
        const Element* const row = from.data + wide_product(rows[s], from.stride);
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            if (s < count && lane.inside(k)) {
                to.x[s][k] = load_vector<width>(row + lane.column(k));
            } else {
                GNNPLAN_UNROLL
                for (int v = 0; v < width; ++v) to.x[s][k].x[v] = missing;
            }
        }
    }
    return to;
}

// Entry k of the matrix, which is in this column, without the scale of its row.
__device__ inline float weight_of(const Csr& a, std::int64_t k, std::int32_t column) {
    if (a.value != nullptr) return read_once(a.value + k);
    return a.column_scale != nullptr ? a.column_scale[column] : 1.0F;
}

}  // namespace gnnplan::kernels::cuda
