// GEMM through OpenBLAS. Its own thread count is global to the process, and its pthread build serialises concurrent
// multi-threaded calls, so ranks that share a process could neither have their own count nor run side by side. OpenBLAS
// therefore stays at one thread, and the result is cut into panels, each one single-threaded call on one of the calling
// rank's OpenMP threads.
#include <cblas.h>

#include <algorithm>

#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/parallel.hpp"

namespace gnnplan::kernels::cpu {
namespace {

struct Operands {
    Transpose transpose_a, transpose_b;
    ConstMatrix a, b;
    Matrix c;
    std::int64_t inner;
};

// Rows first_row .. and columns first_column .. of op(a) * op(b), for the whole inner dimension. Every extent fits
// blasint: rows are vertices, whose ids are 32-bit in Csr, and strides are layer widths.
void gemm_panel(const Operands& x, std::int64_t first_row, std::int64_t rows, std::int64_t first_column,
                std::int64_t columns) {
    const bool ta = x.transpose_a == Transpose::yes;
    const bool tb = x.transpose_b == Transpose::yes;
    const float* a = x.a.data + (ta ? first_row : first_row * x.a.stride);
    const float* b = x.b.data + (tb ? first_column * x.b.stride : first_column);
    float* c = x.c.row(first_row) + first_column;
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,
                static_cast<blasint>(rows), static_cast<blasint>(columns), static_cast<blasint>(x.inner), 1.0F, a,
                static_cast<blasint>(x.a.stride), b, static_cast<blasint>(x.b.stride), 0.0F, c,
                static_cast<blasint>(x.c.stride));
}

void set_zero(Matrix c) {
    for (std::int64_t i = 0; i < c.rows; ++i) std::fill_n(c.row(i), c.columns, 0.0F);
}

}  // namespace

void use_serial_blas() { openblas_set_num_threads(1); }

void gemm(Transpose transpose_a, Transpose transpose_b, ConstMatrix a, ConstMatrix b, Matrix c) {
    if (c.rows == 0 || c.columns == 0) return;
    const std::int64_t inner = transpose_a == Transpose::yes ? a.rows : a.columns;
    if (inner == 0) return set_zero(c);
    const Operands operands = {transpose_a, transpose_b, a, b, c, inner};

    // Panels along the longer side of c, at least 16 wide: narrower ones starve the micro-kernel.
    constexpr std::int64_t least = 16;
    const bool by_rows = c.rows >= c.columns;
    const std::int64_t side = by_rows ? c.rows : c.columns;
    const std::int64_t panel = std::max(least, (side + max_threads() - 1) / max_threads());
    parallel_chunks(side, panel, c.rows * c.columns * inner, [&](std::int64_t first, std::int64_t last) {
        if (by_rows) {
            gemm_panel(operands, first, last - first, 0, c.columns);
        } else {
            gemm_panel(operands, 0, c.rows, first, last - first);
        }
    });
}

}  // namespace gnnplan::kernels::cpu
