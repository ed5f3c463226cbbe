// How the products of a sparse and a dense matrix, and the maxima over neighbours, go through the nonzeros.
//
// A row of the sparse matrix belongs to a group of 4 to 32 lanes of a warp, as many as have something to do: each lane
// has one or two vectors of the columns of the result, of as many floats as can be loaded together (four, two or one),
// and keeps its sums in registers. A group loads the columns and values of as many nonzeros as it has lanes with one
// load, and hands them round by shuffles; each lane gathers its vectors of four rows of the dense operand before it
// adds the first, so that several loads are under way at a time. The groups of a warp take their steps together, those
// with shorter rows idly: all lanes reach every shuffle.
//
// The sum of a row is made of the sums of its units, runs of unit_entries nonzeros, added in order. Whoever computes a
// unit, the bits are the same: the group of the row does it, but rows of several units go to a list as long as there is
// room in the scratch, whose units are computed by all groups of the device and added by a kernel that comes behind
// (kernels/cuda/spmm_split.cuh). No float is ever added to memory that others add to.
//
// What is computed is a Sweep. It says what a unit starts with (start), takes four entries at a time (take), adds the
// result of a unit to what is there of its row (join), and loads and stores rows of the result (old, keep).
#pragma once

#include "kernels/bf16.hpp"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/threads.cuh"
#include "kernels/views.hpp"

#include <cstdint>

namespace gnnplan::kernels::cuda {

inline constexpr std::int64_t unit_entries = 512;
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
    for (int k = 0; k < vectors; ++k) {
        Pack<width> pack = {};
        if (lane.inside(k)) pack = load<width>(from, lane.run(0, k, aligned));
        for (int v = 0; v < width; ++v) to[k][v] = pack.x[v];
    }
}

template <int width, int vectors>
__device__ void store_row(const Lane<width, vectors>& lane, const float (&from)[vectors][width], float* to,
                          bool aligned) {
    for (int k = 0; k < vectors; ++k) {
        Pack<width> pack;
        for (int v = 0; v < width; ++v) pack.x[v] = from[k][v];
        if (lane.inside(k)) store<width>(to, lane.run(0, k, aligned), pack);
    }
}

// The vectors that a lane has of four rows of a dense operand, `missing` where there is no row.
template <int width, int vectors>
struct Gathered {
    Pack<width> x[entries_at_once][vectors];
};

template <int width>
__device__ Pack<width> load_vector(const float* from) {
    return *reinterpret_cast<const Pack<width>*>(from);
}
template <int width>
__device__ Pack<width> load_vector(const Bf16* from) {
    struct alignas(2 * width) Halves {
        std::uint16_t bits[width];
    };
    const Halves halves = *reinterpret_cast<const Halves*>(from);
    Pack<width> pack;
    for (int v = 0; v < width; ++v) pack.x[v] = __uint_as_float(std::uint32_t{halves.bits[v]} << 16U);
    return pack;
}

template <int width, int vectors, class Element>
__device__ Gathered<width, vectors> gather(const Lane<width, vectors>& lane, const Dense<const Element>& from,
                                           const std::int32_t (&rows)[entries_at_once], int count, float missing) {
    Gathered<width, vectors> to;
    for (int s = 0; s < entries_at_once; ++s) {
        const Element* const row = row_of(from, rows[s]);
        for (int k = 0; k < vectors; ++k) {
            if (s < count && lane.inside(k)) {
                to.x[s][k] = load_vector<width>(row + lane.column(k));
            } else {
                for (int v = 0; v < width; ++v) to.x[s][k].x[v] = missing;
            }
        }
    }
    return to;
}

// Entry k of the matrix, which is in this column, without the scale of its row.
__device__ inline float weight_of(const Csr& a, std::int64_t k, std::int32_t column) {
    if (a.value != nullptr) return a.value[k];
    return a.column_scale != nullptr ? a.column_scale[column] : 1.0F;
}

// The result of the entries begin .. end - 1, which may be none; called by whole warps.
template <int width, int vectors, class Sweep>
__device__ Held<width, vectors, Sweep::results> sweep_unit(const Csr& a, const Sweep& sweep,
                                                           const Lane<width, vectors>& lane, std::int64_t row,
                                                           std::int64_t begin, std::int64_t end) {
    const auto of_row = sweep.template of_row<width, vectors>(lane, row, begin < end);
    auto result = sweep.template start<width, vectors>();
    for (std::int64_t at = begin; __any_sync(all_lanes, at < end); at += lane.lanes) {
        std::int32_t column = 0;
        float weight = 0;
        if (at + lane.index < end) {
            column = a.column[at + lane.index];
            if constexpr (Sweep::weighted) weight = weight_of(a, at + lane.index, column);
        }
        const auto count = static_cast<int>(smaller<std::int64_t>(lane.lanes, end - at));
        for (int t = 0; __any_sync(all_lanes, t < count); t += entries_at_once) {
            std::int32_t columns[entries_at_once];
            float weights[entries_at_once] = {};
            for (int s = 0; s < entries_at_once; ++s) {
                columns[s] = __shfl_sync(all_lanes, column, t + s, lane.lanes);
                if constexpr (Sweep::weighted) weights[s] = __shfl_sync(all_lanes, weight, t + s, lane.lanes);
            }
            sweep.take(lane, of_row, columns, weights, count - t, result);
        }
    }
    return result;
}

}  // namespace gnnplan::kernels::cuda
