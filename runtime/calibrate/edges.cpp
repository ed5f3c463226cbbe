// Softmaxes over values of nonzeros, row by row.
#include "runtime/calibrate/array.hpp"
#include "runtime/calibrate/measurements.hpp"
#include "runtime/calibrate/random_matrix.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

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

    // What ir/work.hpp counts: values of nonzeros, and two numbers a row.
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

}  // namespace

Sample measure_edges(const Setting& setting, ElementwiseKind stream, std::int64_t bytes, std::int64_t degree) {
    const bool forward = stream == ElementwiseKind::edge_softmax;
    ensure(forward || stream == ElementwiseKind::edge_softmax_back, "it is not done to edges");
    const std::int64_t arrays = forward ? 2 : 4;
    EdgeRun run(setting.kernels, std::max<std::int64_t>(1, bytes / 4 / (arrays * degree + 2)), degree);
    if (forward) return {"stream.edge_softmax", {run.bytes(arrays)}, seconds_together(setting, [&] { run.softmax(); })};
    return {"stream.edge_softmax_back", {run.bytes(arrays)}, seconds_together(setting, [&] { run.back(); })};
}

}  // namespace gnnplan::calibrate
