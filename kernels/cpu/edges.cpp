// Values of the entries of a matrix, panel after panel, rows in chunks of about equal work.
#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/row_chunks.hpp"
#include "kernels/cpu/vector.hpp"
#include "kernels/parallel.hpp"

namespace gnnplan::kernels::cpu {
namespace {

constexpr std::int64_t work_of_exponential = 16;  // operations, about

}  // namespace

void edge_dot(const Csr& a, ConstMatrix x, ConstMatrix y, float* scores) {
    for (std::int64_t p = 0; p < a.panels; ++p) {
        const Csr panel = a.panel(p);
        in_chunks(panel, 2 * x.columns,
                  [&](Range rows) { best_kernels().edge_dot_rows(panel, x, y, scores, rows.begin, rows.end); });
    }
}

void edge_totals(const Csr& a, const float* scores, const float* beta, EdgeTotals to, bool accumulate) {
    for (std::int64_t p = 0; p < a.panels; ++p) {
        const Csr panel = a.panel(p);
        in_chunks(panel, work_of_exponential, [&](Range rows) {
            best_kernels().edge_totals_rows(panel, scores, *beta, to, accumulate || p > 0, rows.begin, rows.end);
        });
    }
}

void edge_softmax(const Csr& a, const float* scores, const float* beta, EdgeTotals of, float* weights) {
    for (std::int64_t p = 0; p < a.panels; ++p) {
        const Csr panel = a.panel(p);
        in_chunks(panel, work_of_exponential, [&](Range rows) {
            best_kernels().edge_softmax_rows(panel, scores, *beta, of, weights, rows.begin, rows.end);
        });
    }
}

void edge_softmax_back(const Csr& a, const EdgeSoftmaxBack& back, bool accumulate) {
    for (std::int64_t p = 0; p < a.panels; ++p) {
        const Csr panel = a.panel(p);
        in_chunks(panel, 4, [&](Range rows) {
            best_kernels().edge_softmax_back_rows(panel, back, *back.beta, accumulate || p > 0, rows.begin, rows.end);
        });
    }
}

void head_unit(ConstMatrix x, ConstMatrix squares, Heads heads, Matrix out) {
    parallel_chunks(out.rows, rows_per_chunk(x.columns), x.rows * x.columns,
                    [&](std::int64_t first, std::int64_t last) {
                        for (std::int64_t i = first; i < last; ++i)
                            best_kernels().head_unit_row(x.row(i), squares.row(i), x.columns, heads, out.row(i));
                    });
}

void head_unit_back(const UnitBackOperands& in, Heads heads, Matrix x) {
    parallel_chunks(x.rows, rows_per_chunk(x.columns), x.rows * x.columns, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            best_kernels().head_unit_back_row(in.gradient.row(i), in.unit.row(i), in.inner.row(i), in.squares.row(i),
                                              x.columns, heads, x.row(i));
        }
    });
}

}  // namespace gnnplan::kernels::cpu
