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

class EdgeRun {
public:
    EdgeRun(kernels::Device& device, std::int64_t rows, std::int64_t degree)
        : kernels_(device.table()),
          matrix_(device, {rows, rows, degree}),
          scores_(device, matrix_.nonzeros(), 1.0F),
          weights_(device, matrix_.nonzeros(), 0.5F),
          gradient_(device, matrix_.nonzeros(), 1.0F),
          by_row_(device, rows, 0.5F),
          totals_(device, rows),
          beta_(device, 1, 0.5F) {}

    // The bytes that ir/work.hpp counts: values of nonzeros, and two numbers a row.
    std::int64_t bytes(std::int64_t arrays) const { return 4 * (arrays * matrix_.nonzeros() + 2 * matrix_.rows()); }

    void softmax() {
        const kernels::Csr a = matrix_.view();
        const kernels::EdgeTotals totals{by_row_.data(), totals_.data()};
        kernels_.edge_totals(a, scores_.data(), beta_.data(), totals, false);
        kernels_.edge_softmax(a, scores_.data(), beta_.data(), totals, weights_.data());
    }
    // Repeated, it tends to a gradient that is neither infinite nor denormal.
    void back() {
        kernels_.edge_softmax_back(
            matrix_.view(),
            {scores_.data(), weights_.data(), by_row_.data(), beta_.data(), gradient_.data(), totals_.data()}, false);
    }

private:
    const kernels::Table& kernels_;
    RandomMatrix matrix_;
    Array<float> scores_, weights_, gradient_, by_row_, totals_, beta_;
};

// As the executor takes the values of a matrix for its transpose: where each of them lies, row by row of the transpose.
class TransposeRun {
public:
    TransposeRun(kernels::Device& device, const RandomRows& rows)
        : kernels_(device.table()),
          order_(device, std::ssize(rows.column), [order = order_of(rows)](std::size_t i) { return order[i]; }),
          from_(device, edges(), 1.0F),
          to_(device, edges()) {}

    std::int64_t edges() const { return static_cast<std::int64_t>(order_.size()); }
    void run() { kernels_.gather_rows({from_.data(), edges(), 1, 1}, order_.data(), {to_.data(), edges(), 1, 1}); }

private:
    static std::vector<std::int32_t> order_of(const RandomRows& rows) {
        std::vector<std::int64_t> next(static_cast<std::size_t>(rows.columns) + 1);  // free place of each column
        for (const std::int32_t column : rows.column) ++next[static_cast<std::size_t>(column) + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        std::vector<std::int32_t> order(rows.column.size());
        std::int32_t e = 0;
        for (const std::int32_t column : rows.column) {
            order[static_cast<std::size_t>(next[static_cast<std::size_t>(column)]++)] = e++;
        }
        return order;
    }

    const kernels::Table& kernels_;
    Array<std::int32_t> order_;
    Array<float> from_, to_;
};

Sample measure_transpose(const Setting& setting, std::int64_t bytes, std::int64_t degree) {
    constexpr std::int64_t bytes_per_edge = 12;  // the value read and written, and where it lies
    const std::int64_t rows = std::max<std::int64_t>(1, bytes / bytes_per_edge / degree);
    TransposeRun run(setting.device, {rows, rows, degree});
    return {"stream.edge_transpose", {bytes_per_edge * run.edges()}, seconds_together(setting, [&] { run.run(); })};
}

}  // namespace

Sample measure_edges(const Setting& setting, ElementwiseKind stream, std::int64_t bytes, std::int64_t degree) {
    if (stream == ElementwiseKind::edge_transpose) return measure_transpose(setting, bytes, degree);
    const bool forward = stream == ElementwiseKind::edge_softmax;
    ensure(forward || stream == ElementwiseKind::edge_softmax_back, "it is not done to edges");
    const std::int64_t arrays = forward ? 2 : 4;
    EdgeRun run(setting.device, std::max<std::int64_t>(1, bytes / 4 / (arrays * degree + 2)), degree);
    if (forward) return {"stream.edge_softmax", {run.bytes(arrays)}, seconds_together(setting, [&] { run.softmax(); })};
    return {"stream.edge_softmax_back", {run.bytes(arrays)}, seconds_together(setting, [&] { run.back(); })};
}

}  // namespace gnnplan::calibrate
