// Matrices of which each element is made of the same elements of others.
#include "kernels/cpu/cpu.hpp"
#include "kernels/parallel.hpp"
#include "kernels/square_sum.hpp"

namespace gnnplan::kernels::cpu {
namespace {

template <class T>
bool is_flat(const Dense<T>& matrix) {
    return matrix.stride == matrix.columns || matrix.rows <= 1;
}

// `change(to, from..., columns)` for runs of the same elements of all matrices. Matrices without gaps are one long row,
// which is cut anywhere.
template <class Change, class... Others>
void change_runs(Matrix c, const Change& change, const Others&... others) {
    constexpr std::int64_t run = 1 << 13;
    if ((is_flat(c) && ... && is_flat(others))) {
        const std::int64_t all = c.rows * c.columns;
        parallel_chunks(all, run, all, [&](std::int64_t first, std::int64_t last) {
            change(c.data + first, others.data + first..., last - first);
        });
        return;
    }
    parallel_chunks(c.rows, rows_per_chunk(c.columns), c.rows * c.columns, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) change(c.row(i), others.row(i)..., c.columns);
    });
}

// `change(x, y)` gives an element of c from y, that of a, and x, its own.
template <class Change>
void change_by(ConstMatrix a, Matrix c, const Change& change) {
    change_runs(
        c,
        [&](float* to, const float* from, std::int64_t columns) {
            for (std::int64_t j = 0; j < columns; ++j) to[j] = change(to[j], from[j]);
        },
        a);
}

}  // namespace

void add(ConstMatrix a, Matrix c) {
    change_by(a, c, [](float x, float y) { return x + y; });
}

void sum(ConstMatrix a, ConstMatrix b, Matrix c) {
    change_runs(
        c,
        [](float* to, const float* x, const float* y, std::int64_t columns) {
            for (std::int64_t j = 0; j < columns; ++j) to[j] = x[j] + y[j];
        },
        a, b);
}

void add_squares(ConstMatrix a, Matrix c) {
    change_by(a, c, [](float x, float y) { return (SquareSum{x} += SquareSum{y}).root; });
}

void add_scaled(float scale, const float* more, ConstMatrix a, Matrix c) {
    if (more != nullptr) scale += *more;
    change_by(a, c, [scale](float x, float y) { return x + scale * y; });
}

void blend(float share, ConstMatrix a, Matrix c) {
    change_by(a, c, [share, rest = 1 - share](float x, float y) { return rest * x + share * y; });
}

void scale(float factor, ConstMatrix a, Matrix c) {
    change_by(a, c, [factor](float /*x*/, float y) { return factor * y; });
}

void add_identity(float factor, Matrix c) {
    for (std::int64_t i = 0; i < c.rows; ++i) c.row(i)[i] += factor;
}

}  // namespace gnnplan::kernels::cpu
