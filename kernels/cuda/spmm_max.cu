// The largest neighbours and what goes back from them, by the walk of spmm_walk.cuh.
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/spmm_sweep.cuh"

#include <cmath>

namespace gnnplan::kernels::cuda {
namespace {

// Results 0 and 1 of a row are the maxima and how many are equally large; 0 of them: there was nothing yet.
struct MaxSweep {
    static constexpr bool weighted = false;
    static constexpr int results = 2;
    static constexpr int blocks = 3;
    ConstMatrix b;
    Matrix maxima, ties;
    bool aligned;  // the rows of both
    bool accumulate;

    template <int width, int vectors>
    using Largest = Held<width, vectors, 2>;
    struct Nothing {};
    template <int width, int vectors>
    using OfRow = Nothing;

    __host__ __device__ std::int64_t columns() const { return maxima.columns; }
    template <int width, int vectors>
    __device__ Nothing of_row(const Lane<width, vectors>&, std::int64_t, bool) const {
        return {};
    }
    template <int width, int vectors>
    __device__ Largest<width, vectors> start() const {
        return {};
    }
    // An element that is found `times` times joins what was largest so far. NaNs are neither greater nor equal.
    __device__ static void join_one(float& largest, float& count, float x, float times) {
        if (times > 0 && x == x && (count == 0 || x > largest)) {
            largest = x, count = times;
        } else if (times > 0 && x == largest) {
            count += times;
        }
    }
    template <int width, int vectors>
    __device__ Gathered<width, vectors> fetch(const Lane<width, vectors>& lane,
                                              const std::int32_t (&rows)[entries_at_once], int count) const {
        return gather(lane, b, rows, count, NAN);
    }
    template <int width, int vectors>
    __device__ void take(const Nothing&, const Gathered<width, vectors>& x, int s, float,
                         Largest<width, vectors>& so_far) const {
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v) join_one(so_far.x[0][k][v], so_far.x[1][k][v], x.x[s][k].x[v], 1.0F);
        }
    }
    template <int width, int vectors>
    __device__ Largest<width, vectors> old(const Lane<width, vectors>& lane, std::int64_t row, bool wanted) const {
        Largest<width, vectors> held = {};
        if (!wanted) return held;
        load_row(lane, row_of(maxima, row), aligned, held.x[0]);
        load_row(lane, row_of(ties, row), aligned, held.x[1]);
        return held;
    }
    template <int width, int vectors>
    __device__ void join(Largest<width, vectors>& held, const Largest<width, vectors>& unit, std::int64_t, bool) const {
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v)
                join_one(held.x[0][k][v], held.x[1][k][v], unit.x[0][k][v], unit.x[1][k][v]);
        }
    }
    template <int width, int vectors>
    __device__ void keep(const Lane<width, vectors>& lane, Largest<width, vectors> held, std::int64_t row) const {
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v) held.x[0][k][v] = held.x[1][k][v] > 0 ? held.x[0][k][v] : 0.0F;
        }
        store_row(lane, held.x[0], row_of(maxima, row), aligned);
        store_row(lane, held.x[1], row_of(ties, row), aligned);
    }
};

struct MaxBackSweep {
    static constexpr bool weighted = false;
    static constexpr int results = 1;
    static constexpr int blocks = 3;
    ConstMatrix gradient, maxima, own;
    Matrix c;
    bool aligned, own_aligned;  // rows of c and of `own`
    bool accumulate;

    template <int width, int vectors>
    using Sum = Held<width, vectors, 1>;
    template <int width, int vectors>
    using OfRow = Sum<width, vectors>;

    __host__ __device__ std::int64_t columns() const { return c.columns; }
    template <int width, int vectors>
    __device__ Sum<width, vectors> of_row(const Lane<width, vectors>& lane, std::int64_t row, bool wanted) const {
        Sum<width, vectors> values = {};
        if (wanted) load_row(lane, row_of(own, row), own_aligned, values.x[0]);
        return values;
    }
    template <int width, int vectors>
    __device__ Sum<width, vectors> start() const {
        return {};
    }
    template <int width, int vectors>
    struct Fetched {
        Gathered<width, vectors> largest, share;
    };
    template <int width, int vectors>
    __device__ Fetched<width, vectors> fetch(const Lane<width, vectors>& lane,
                                             const std::int32_t (&rows)[entries_at_once], int count) const {
        return {gather(lane, maxima, rows, count, NAN), gather(lane, gradient, rows, count, 0.0F)};
    }
    template <int width, int vectors>
    __device__ void take(const Sum<width, vectors>& values, const Fetched<width, vectors>& x, int s, float,
                         Sum<width, vectors>& sum) const {
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v) {
                if (values.x[0][k][v] == x.largest.x[s][k].x[v]) sum.x[0][k][v] += x.share.x[s][k].x[v];
            }
        }
    }
    template <int width, int vectors>
    __device__ Sum<width, vectors> old(const Lane<width, vectors>& lane, std::int64_t row, bool wanted) const {
        Sum<width, vectors> sum = {};
        if (wanted) load_row(lane, row_of(c, row), aligned, sum.x[0]);
        return sum;
    }
    template <int width, int vectors>
    __device__ void join(Sum<width, vectors>& held, const Sum<width, vectors>& sum, std::int64_t,
                         bool something) const {
        GNNPLAN_UNROLL
        for (int k = 0; k < vectors; ++k) {
            GNNPLAN_UNROLL
            for (int v = 0; v < width; ++v)
                held.x[0][k][v] = something ? held.x[0][k][v] + sum.x[0][k][v] : sum.x[0][k][v];
        }
    }
    template <int width, int vectors>
    __device__ void keep(const Lane<width, vectors>& lane, const Sum<width, vectors>& held, std::int64_t row) const {
        store_row(lane, held.x[0], row_of(c, row), aligned);
    }
};

// sweep_of(first, count, accumulate) gives the sweep over a slice of the columns; it gathers rows of so many operands.
template <class SweepOf>
void sweep_slices(const char* what, const Csr& a, std::int64_t columns, int width, std::int64_t operands,
                  bool accumulate, const SweepOf& sweep_of) {
    const std::int64_t gathered = operands * ceil_divide(a.columns, a.panels);
    for_slices(cached_slices(gathered, columns, width), columns, [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t p = 0; p < a.panels; ++p) {
            with_width(width, [&](auto known) {
                sweep_panel<known.value>(what, panel_of(a, p), sweep_of(first, count, accumulate || p > 0));
            });
        }
    });
}

}  // namespace

void spmm_max(const Csr& a, ConstMatrix b, Matrix maxima, Matrix ties, bool accumulate, std::span<std::byte>) {
    if (maxima.rows == 0) return;
    const bool aligned = is_aligned(maxima) && is_aligned(ties);
    const auto sweep_of = [&](std::int64_t first, std::int64_t count, bool adds) {
        return MaxSweep{columns_of(b, first, count), columns_of(maxima, first, count), columns_of(ties, first, count),
                        aligned, adds};
    };
    sweep_slices("spmm_max", a, maxima.columns, vector_width({b}), 1, accumulate, sweep_of);
}

void spmm_max_back(const Csr& a, ConstMatrix gradient, ConstMatrix maxima, ConstMatrix own, Matrix c, bool accumulate) {
    if (c.rows == 0) return;
    const auto sweep_of = [&](std::int64_t first, std::int64_t count, bool adds) {
        return MaxBackSweep{columns_of(gradient, first, count),
                            columns_of(maxima, first, count),
                            columns_of(own, first, count),
                            columns_of(c, first, count),
                            is_aligned(c),
                            is_aligned(own),
                            adds};
    };
    sweep_slices("spmm_max_back", a, c.columns, vector_width({gradient, maxima}), 2, accumulate, sweep_of);
}

}  // namespace gnnplan::kernels::cuda
