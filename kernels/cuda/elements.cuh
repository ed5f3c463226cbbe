// Kernels that do something to each element of a matrix. A thread has `width` neighbouring elements of a row at a time,
// which it loads and stores together where they are aligned.
// A Body is applied to each element: body.from(i) and body.to(i), the rows that row i comes from and goes to;
// body.begin(), called once by each thread; and body.change(x, at), which changes the elements x[at.first] .. x[at.last
// - 1] of row at.row, of which x[k] is in column at.column + k.
#pragma once

#include "kernels/bf16.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/threads.cuh"

#include <cstdint>

namespace gnnplan::kernels::cuda {

// Neighbours in a row; those before `first` and from `last` on are outside of the matrix.
struct Run {
    std::int64_t row, column;
    int first, last;
    bool aligned;  // and whole: all are inside, and loads of 16 bytes may be used
};

template <int width>
struct alignas(width >= 4 ? 16 : 4 * width) Pack {
    float x[width];
};

// As many numbers in bfloat16, which are loaded and stored together, too.
template <int width>
struct alignas(2 * width) Halves {
    Bf16 x[width];
};

__device__ inline float widened(float x) { return x; }
__device__ inline float widened(Bf16 x) { return __uint_as_float(std::uint32_t{x.bits} << 16U); }

// To nearest, ties to even; a NaN stays one.
__device__ inline Bf16 narrowed(float x) {
    const std::uint32_t bits = __float_as_uint(x);
    const std::uint32_t rounded = (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
    return {static_cast<std::uint16_t>(x == x ? rounded : 0x7fc0U)};
}

template <int width>
__device__ Pack<width> load_vector(const float* from) {
    return *reinterpret_cast<const Pack<width>*>(from);
}
template <int width>
__device__ Pack<width> load_vector(const Bf16* from) {
    const auto halves = *reinterpret_cast<const Halves<width>*>(from);
    Pack<width> pack;
    GNNPLAN_UNROLL
    for (int k = 0; k < width; ++k) pack.x[k] = widened(halves.x[k]);
    return pack;
}

template <int width, class Element>
__device__ Pack<width> load(const Element* row, const Run& at) {
    if (at.aligned) return load_vector<width>(row + at.column);
    Pack<width> pack = {};
    for (int k = 0; k < width; ++k) {
        if (k >= at.first && k < at.last) pack.x[k] = widened(row[at.column + k]);
    }
    return pack;
}

template <int width>
__device__ void store(float* row, const Run& at, const Pack<width>& pack) {
    if (at.aligned) {
        *reinterpret_cast<Pack<width>*>(row + at.column) = pack;
        return;
    }
    for (int k = 0; k < width; ++k) {
        if (k >= at.first && k < at.last) row[at.column + k] = pack.x[k];
    }
}
template <int width>
__device__ void store(Bf16* row, const Run& at, const Pack<width>& pack) {
    Halves<width> halves;
    GNNPLAN_UNROLL
    for (int k = 0; k < width; ++k) halves.x[k] = narrowed(pack.x[k]);
    if (at.aligned) {
        *reinterpret_cast<Halves<width>*>(row + at.column) = halves;
        return;
    }
    for (int k = 0; k < width; ++k) {
        if (k >= at.first && k < at.last) row[at.column + k] = halves.x[k];
    }
}

// The same of numbers that leave the caches to others.
template <int width>
__device__ void write_once(float* row, const Run& at, const Pack<width>& pack) {
    float* const to = row + at.column;
    if (!choices::streaming_stores || !at.aligned) {
        store(row, at, pack);
    } else if constexpr (width == 4) {
        __stcs(reinterpret_cast<float4*>(to), {pack.x[0], pack.x[1], pack.x[2], pack.x[3]});
    } else if constexpr (width == 2) {
        __stcs(reinterpret_cast<float2*>(to), {pack.x[0], pack.x[1]});
    } else {
        __stcs(to, pack.x[0]);
    }
}

// A matrix in runs of which the first of each row begins `before` columns outside.
struct Cut {
    std::int64_t rows, columns;
    std::int64_t before;
    std::int64_t runs;  // of each row
    bool aligned;
};

template <int width, class Body>
__global__ void __launch_bounds__(block_threads) change_runs(Cut cut, Body body) {
    body.begin();
    for (std::int64_t t = thread_number(); t < cut.rows * cut.runs; t += thread_count()) {
        const std::int64_t row = quotient(t, cut.runs);
        const std::int64_t column = (t - row * cut.runs) * width - cut.before;
        const auto first = static_cast<int>(larger<std::int64_t>(0, -column));
        const auto last = static_cast<int>(smaller<std::int64_t>(width, cut.columns - column));
        const Run at = {row, column, first, last, cut.aligned && first == 0 && last == width};
        Pack<width> pack = load<width>(body.from(row), at);
        body.change(pack.x, at);
        store<width>(body.to(row), at, pack);
    }
}

template <int width, class Body>
void change_in_runs(const char* what, std::int64_t rows, std::int64_t columns, std::int64_t before, bool aligned,
                    const Body& body) {
    if (rows == 0 || columns == 0) return;
    const Cut cut = {rows, columns, before, ceil_divide(columns + before, width), aligned};
    launch(what, blocks_for(rows * cut.runs), change_runs<width, Body>, cut, body);
}

// Whether each of its rows begins with four numbers that are loaded together, and so on.
inline bool is_aligned(const ConstMatrix& matrix) {
    return reinterpret_cast<std::uintptr_t>(matrix.data) % 16 == 0 && (matrix.stride % 4 == 0 || matrix.rows <= 1);
}

inline bool is_aligned(const Dense<const Bf16>& matrix) {
    return reinterpret_cast<std::uintptr_t>(matrix.data) % 8 == 0 && (matrix.stride % 4 == 0 || matrix.rows <= 1);
}

// In place, where nothing has to be done before the first element.
struct InPlace {
    Matrix matrix;

    __device__ const float* from(std::int64_t i) const { return row_of(matrix, i); }
    __device__ float* to(std::int64_t i) const { return row_of(matrix, i); }
    __device__ void begin() const {}
};

// Rows from elsewhere: those that `index` names, or all in order.
template <class From, class To>
struct CopyAs {
    Dense<const From> in;
    const std::int32_t* index;
    Dense<To> out;

    __device__ const From* from(std::int64_t i) const { return row_of(in, index == nullptr ? i : index[i]); }
    __device__ To* to(std::int64_t i) const { return row_of(out, i); }
    __device__ void begin() const {}
    template <int width>
    __device__ void change(float (&/*x*/)[width], const Run& /*at*/) const {}
};
using Copy = CopyAs<float, float>;

// The change of an element may not depend on its place: matrices without gaps are then one long row.
template <class Body>
void change_all(const char* what, bool flat, bool aligned, std::int64_t rows, std::int64_t columns, const Body& body) {
    if (flat) columns *= rows, rows = rows > 0 ? 1 : 0;
    if (aligned) {
        change_in_runs<4>(what, rows, columns, 0, true, body);
    } else {
        change_in_runs<1>(what, rows, columns, 0, true, body);
    }
}

}  // namespace gnnplan::kernels::cuda
