// Operations head by head around attention: products, sums and means.
#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/elements.cuh"

namespace gnnplan::kernels::cuda {
namespace {

// Products gives the terms that are summed over the columns of a head, and the number that is stored for the sum.
struct Products {
    ConstMatrix x, y;

    using Sum = float;
    __device__ Sum add(Sum sum, std::int64_t row, std::int64_t j) const {
        return fmaf(row_of(x, row)[j], row_of(y, row)[j], sum);
    }
    __device__ float finished(Sum sum) const { return sum; }
};

// Squares gives the same for sums of squares, which are stored as SquareSums (kernels/square_sum.hpp).
struct Squares {
    ConstMatrix x;

    using Sum = double;
    __device__ Sum add(Sum sum, std::int64_t row, std::int64_t j) const {
        const auto element = static_cast<double>(row_of(x, row)[j]);
        return fma(element, element, sum);
    }
    __device__ float finished(Sum sum) const { return static_cast<float>(sqrt(sqrt(sum))); }
};

// A power of two of lanes has a row and a head at a time.
template <class Terms>
__global__ void __launch_bounds__(block_threads) sum_heads(Terms terms, Heads heads, Matrix out, int lanes) {
    const std::int64_t all = out.rows * out.columns;
    const int index = lane_of_warp() & (lanes - 1);
    const std::int64_t first = (thread_number() - lane_of_warp()) / lanes;  // of the warp
    for (std::int64_t base = first; base < all; base += thread_count() / lanes) {
        const std::int64_t number = base + lane_of_warp() / lanes;
        const std::int64_t row = quotient(smaller(number, all - 1), out.columns);
        const std::int64_t head = smaller(number, all - 1) - row * out.columns;
        const std::int64_t before = head * heads.columns - heads.first;
        const std::int64_t begin = larger<std::int64_t>(before, 0),
                           end = smaller(before + heads.columns, terms.x.columns);
        typename Terms::Sum sum = 0;
        for (std::int64_t j = begin + index; j < end; j += lanes) sum = terms.add(sum, row, j);
        for (int distance = lanes / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(all_lanes, sum, distance);
        if (index == 0 && number < all) row_of(out, row)[head] = terms.finished(sum);
    }
}

template <class Terms>
void sum_by_heads(const char* what, const Terms& terms, Heads heads, Matrix out) {
    constexpr std::int64_t columns_of_lane = 4;
    int lanes = 1;
    while (lanes < warp_lanes && lanes * columns_of_lane < heads.columns) lanes *= 2;
    launch(what, blocks_for(out.rows * out.columns * lanes), sum_heads<Terms>, terms, heads, out, lanes);
}

struct Spread : InPlace {
    ConstMatrix by, y;
    Heads heads;

    // All are of one head.
    template <int width>
    __device__ void change(float (&x)[width], const Run& at) const {
        const float factor = row_of(by, at.row)[quotient(heads.first + at.column, heads.columns)];
        const Pack<width> term = load<width>(row_of(y, at.row), at);
        for (int k = 0; k < width; ++k) x[k] = fmaf(factor, term.x[k], x[k]);
    }
};

// 1 / the length of a row whose SquareSum is given, or 0. It is a double because a float may not hold it.
__device__ inline double inverse_length(float root) {
    const auto wide = static_cast<double>(root);
    return wide == 0 ? 0 : 1 / (wide * wide);
}

// Numbers of a run are all of one head.
struct Unit {
    ConstMatrix x, squares;
    Heads heads;
    Matrix out;

    __device__ const float* from(std::int64_t i) const { return row_of(x, i); }
    __device__ float* to(std::int64_t i) const { return row_of(out, i); }
    __device__ void begin() const {}
    template <int width>
    __device__ void change(float (&of_row)[width], const Run& at) const {
        const std::int64_t head = quotient(heads.first + at.column, heads.columns);
        const double by = inverse_length(row_of(squares, at.row)[head]);
        for (int k = 0; k < width; ++k) of_row[k] = static_cast<float>(static_cast<double>(of_row[k]) * by);
    }
};

struct UnitBack : InPlace {
    UnitBackOperands in;
    Heads heads;

    template <int width>
    __device__ void change(float (&x)[width], const Run& at) const {
        const std::int64_t head = quotient(heads.first + at.column, heads.columns);
        const double by = inverse_length(row_of(in.squares, at.row)[head]);
        const auto along = static_cast<double>(row_of(in.inner, at.row)[head]);
        const Pack<width> gradient = load<width>(row_of(in.gradient, at.row), at);
        const Pack<width> unit = load<width>(row_of(in.unit, at.row), at);
        for (int k = 0; k < width; ++k) {
            const double across = fma(-along, static_cast<double>(unit.x[k]), static_cast<double>(gradient.x[k]));
            x[k] += static_cast<float>(across * by);
        }
    }
};

// A column's numbers, each times the number of its row and head.
struct Weighed {
    ConstMatrix x, by;
    Heads heads;

    struct Column {
        const float *x, *by;
        std::int64_t x_stride, by_stride;

        __device__ double term(std::int64_t i) const {
            return static_cast<double>(x[i * x_stride]) * static_cast<double>(by[i * by_stride]);
        }
    };
    __device__ Column of(std::int64_t column) const {
        return {x.data + column, by.data + quotient(heads.first + column, heads.columns), x.stride, by.stride};
    }
};

// Starts from the columns of the first head.
struct Mean {
    ConstMatrix x;
    Matrix out;
    std::int64_t heads;

    __device__ const float* from(std::int64_t i) const { return row_of(x, i); }
    __device__ float* to(std::int64_t i) const { return row_of(out, i); }
    __device__ void begin() const {}
    template <int width>
    __device__ void change(float (&sum)[width], const Run& at) const {
        for (std::int64_t head = 1; head < heads; ++head) {
            const Pack<width> more = load<width>(row_of(x, at.row) + head * out.columns, at);
            for (int k = 0; k < width; ++k) sum[k] += more.x[k];
        }
        for (int k = 0; k < width; ++k) sum[k] /= static_cast<float>(heads);
    }
};

// The value of the first head is stored last.
struct Share {
    ConstMatrix g;
    Matrix out;
    std::int64_t heads;

    __device__ const float* from(std::int64_t i) const { return row_of(g, i); }
    __device__ float* to(std::int64_t i) const { return row_of(out, i); }
    __device__ void begin() const {}
    template <int width>
    __device__ void change(float (&x)[width], const Run& at) const {
        Pack<width> share;
        for (int k = 0; k < width; ++k) share.x[k] = x[k] /= static_cast<float>(heads);
        for (std::int64_t head = 1; head < heads; ++head)
            store<width>(row_of(out, at.row) + head * g.columns, at, share);
    }
};

// Runs of four where they are aligned.
template <class Body>
void change_fours(const char* what, bool fours, std::int64_t rows, std::int64_t columns, const Body& body) {
    if (fours) {
        change_in_runs<4>(what, rows, columns, 0, true, body);
    } else {
        change_in_runs<1>(what, rows, columns, 0, true, body);
    }
}

}  // namespace

void head_dot(ConstMatrix x, ConstMatrix y, Heads heads, Matrix out) {
    sum_by_heads("head_dot", Products{x, y}, heads, out);
}

void head_squares(ConstMatrix x, Heads heads, Matrix out) { sum_by_heads("head_squares", Squares{x}, heads, out); }

void head_spread(ConstMatrix by, ConstMatrix y, Heads heads, Matrix x) {
    const bool fours = is_aligned(x) && is_aligned(y) && heads.columns % 4 == 0 && heads.first % 4 == 0;
    change_fours("head_spread", fours, x.rows, x.columns, Spread{{x}, by, y, heads});
}

void head_unit(ConstMatrix x, ConstMatrix squares, Heads heads, Matrix out) {
    const bool fours = is_aligned(x) && is_aligned(out) && heads.columns % 4 == 0 && heads.first % 4 == 0;
    change_fours("head_unit", fours, out.rows, out.columns, Unit{x, squares, heads, out});
}

void head_unit_back(const UnitBackOperands& in, Heads heads, Matrix x) {
    const bool fours = is_aligned(x) && is_aligned(in.gradient) && is_aligned(in.unit) && heads.columns % 4 == 0 &&
                       heads.first % 4 == 0;
    change_fours("head_unit_back", fours, x.rows, x.columns, UnitBack{{x}, in, heads});
}

void head_fold(ConstMatrix x, ConstMatrix by, Heads heads, float* out) {
    sum_by_columns("head_fold", x.rows, x.columns, Weighed{x, by, heads}, out);
}

void head_mean(ConstMatrix x, Matrix out) {
    if (out.columns == 0) return;
    const bool fours = is_aligned(x) && is_aligned(out) && out.columns % 4 == 0;
    change_fours("head_mean", fours, out.rows, out.columns, Mean{x, out, x.columns / out.columns});
}

void head_share(ConstMatrix g, Matrix out) {
    if (g.columns == 0) return;
    const bool fours = is_aligned(g) && is_aligned(out) && g.columns % 4 == 0;
    change_fours("head_share", fours, g.rows, g.columns, Share{g, out, out.columns / g.columns});
}

}  // namespace gnnplan::kernels::cuda
