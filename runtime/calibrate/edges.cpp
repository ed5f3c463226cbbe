// Measures operations on values of nonzeros: softmaxes, row by row, and their transposition.
#include "runtime/calibrate/array.hpp"
#include "runtime/calibrate/measurements.hpp"
#include "runtime/calibrate/random_matrix.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace gnnplan::calibrate {
namespace {

constexpr float beta = 0.5F;

class EdgeRun {
public:
    EdgeRun(const kernels::Table& kernels, std::int64_t rows, std::int64_t degree)
        : kernels_(kernels),
          matrix_(rows, rows, degree),
          scores_(matrix_.nonzeros(), 1.0F),
          weights_(matrix_.nonzeros(), 0.5F),
          gradient_(matrix_.nonzeros(), 1.0F),
          by_row_(rows, 0.5F),
          totals_(rows) {}

    // The bytes that ir/work.hpp counts: values of nonzeros, and two numbers a row.
    std::int64_t bytes(std::int64_t arrays) const { return 4 * (arrays * matrix_.nonzeros() + 2 * matrix_.rows()); }

    void softmax() {
        const kernels::Csr a = matrix_.view();
        const kernels::EdgeTotals totals{by_row_.data(), totals_.data()};
        kernels_.edge_totals(a, scores_.data(), &beta, totals, false);
        kernels_.edge_softmax(a, scores_.data(), &beta, totals, weights_.data());
    }
    // Repeated, it tends to a gradient that is neither infinite nor denormal.
    void back() {
        kernels_.edge_softmax_back(
            matrix_.view(), {scores_.data(), weights_.data(), by_row_.data(), &beta, gradient_.data(), totals_.data()},
            false);
    }

private:
    const kernels::Table& kernels_;
    RandomMatrix matrix_;
    Array<float> scores_, weights_, gradient_, by_row_, totals_;
};

// As the executor takes the values of a matrix for its transpose: where each of them lies, row by row of the transpose.
class TransposeRun {
public:
    TransposeRun(const kernels::Table& kernels, std::int64_t rows, std::int64_t degree)
        : kernels_(kernels), order_(order_of(RandomMatrix(rows, rows, degree))), from_(edges(), 1.0F), to_(edges()) {}

    std::int64_t edges() const { return static_cast<std::int64_t>(order_.size()); }
    void run() { kernels_.gather_rows({from_.data(), edges(), 1, 1}, order_.data(), {to_.data(), edges(), 1, 1}); }

private:
    static Array<std::int32_t> order_of(const RandomMatrix& matrix) {
        const kernels::Csr a = matrix.view();
        std::vector<std::int64_t> next(static_cast<std::size_t>(matrix.rows()) + 1);  // free place of each column
        for (std::int64_t e = 0; e < matrix.nonzeros(); ++e) ++next[static_cast<std::size_t>(a.column[e]) + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        Array<std::int32_t> order(matrix.nonzeros());
        for (std::int64_t e = 0; e < matrix.nonzeros(); ++e) {
            order.data()[next[static_cast<std::size_t>(a.column[e])]++] = static_cast<std::int32_t>(e);
        }
        return order;
    }

    const kernels::Table& kernels_;
    Array<std::int32_t> order_;
    Array<float> from_, to_;
};

Sample measure_transpose(const Setting& setting, std::int64_t bytes, std::int64_t degree) {
    constexpr std::int64_t bytes_per_edge = 12;  // the value read and written, and where it lies
    TransposeRun run(setting.kernels, std::max<std::int64_t>(1, bytes / bytes_per_edge / degree), degree);
    return {"stream.edge_transpose", {bytes_per_edge * run.edges()}, seconds_together(setting, [&] { run.run(); })};
}

}  // namespace

Sample measure_edges(const Setting& setting, ElementwiseKind stream, std::int64_t bytes, std::int64_t degree) {
    if (stream == ElementwiseKind::edge_transpose) return measure_transpose(setting, bytes, degree);
    const bool forward = stream == ElementwiseKind::edge_softmax;
    ensure(forward || stream == ElementwiseKind::edge_softmax_back, "it is not done to edges");
    const std::int64_t arrays = forward ? 2 : 4;
    EdgeRun run(setting.kernels, std::max<std::int64_t>(1, bytes / 4 / (arrays * degree + 2)), degree);
    if (forward) return {"stream.edge_softmax", {run.bytes(arrays)}, seconds_together(setting, [&] { run.softmax(); })};
    return {"stream.edge_softmax_back", {run.bytes(arrays)}, seconds_together(setting, [&] { run.back(); })};
}

}  // namespace gnnplan::calibrate
