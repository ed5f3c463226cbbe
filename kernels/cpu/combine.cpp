// Matrices of which each element is made of the same elements of others.
#include "kernels/cpu/cpu.hpp"
#include "kernels/parallel.hpp"
#include "kernels/square_sum.hpp"

namespace gnnplan::kernels::cpu {
namespace {

// `change(x, y)` gives an element of c from y, that of a, and x, its own.
template <class Change>
void change_by(ConstMatrix a, Matrix c, const Change& change) {
    parallel_chunks(c.rows, rows_per_chunk(c.columns), c.rows * c.columns, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            const float* from = a.row(i);
            float* to = c.row(i);
            for (std::int64_t j = 0; j < c.columns; ++j) to[j] = change(to[j], from[j]);
        }
    });
}

}  // namespace

void add(ConstMatrix a, Matrix c) {
    change_by(a, c, [](float x, float y) { return x + y; });
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
