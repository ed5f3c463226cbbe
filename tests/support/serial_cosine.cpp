#include "tests/support/serial_cosine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gnnplan::testing {

SerialCosine::SerialCosine(const SparseMatrix& m, const std::vector<double>& h, std::int64_t columns, double beta)
    : h_(h), columns_(static_cast<std::size_t>(columns)), beta_(beta), value_(h.size(), 0.0) {
    const auto vertices = static_cast<std::size_t>(m.size);
    for (std::size_t v = 0; v < vertices; ++v) length_.push_back(std::sqrt(inner(row(v), row(v))));
    for (std::size_t v = 0; v < vertices; ++v) {
        const std::size_t begin = edges_.size();
        double largest = -std::numeric_limits<double>::infinity(), total = 0;
        for (std::int64_t e = m.row_start[v]; e < m.row_start[v + 1]; ++e) {
            const auto u = static_cast<std::size_t>(m.column[static_cast<std::size_t>(e)]);
            const double lengths = length_[u] * length_[v];
            const double cosine = lengths > 0 ? inner(row(u), row(v)) / lengths : 0;
            edges_.push_back({u, v, cosine, 0});
            largest = std::max(largest, beta * cosine);
        }
        for (std::size_t e = begin; e < edges_.size(); ++e)
            total += edges_[e].weight = std::exp(beta * edges_[e].cosine - largest);
        for (std::size_t e = begin; e < edges_.size(); ++e) {
            edges_[e].weight /= total;
            for (std::size_t j = 0; j < columns_; ++j)
                value_[v * columns_ + j] += edges_[e].weight * row(edges_[e].source)[j];
        }
    }
}

double SerialCosine::inner(const double* x, const double* y) const {
    double sum = 0;
    for (std::size_t j = 0; j < columns_; ++j) sum += x[j] * y[j];
    return sum;
}

// The cosine's gradient for x is (y / |y| - cosine x / |x|) / |x|.
SerialCosine::Gradients SerialCosine::gradients(const std::vector<double>& of_value) const {
    Gradients result{std::vector<double>(h_.size(), 0.0)};
    std::vector<double> of_weight, mean(length_.size(), 0.0);
    for (const Edge& edge : edges_) {
        of_weight.push_back(inner(&of_value[edge.target * columns_], row(edge.source)));
        mean[edge.target] += edge.weight * of_weight.back();
    }
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        const Edge& edge = edges_[e];
        const double of_score = edge.weight * (of_weight[e] - mean[edge.target]);
        result.beta += of_score * edge.cosine;
        for (std::size_t j = 0; j < columns_; ++j)
            result.h[edge.source * columns_ + j] += edge.weight * of_value[edge.target * columns_ + j];
        const double s = length_[edge.source], t = length_[edge.target];
        if (s == 0 || t == 0) continue;
        for (std::size_t j = 0; j < columns_; ++j) {
            const double x = row(edge.source)[j] / s, y = row(edge.target)[j] / t;
            result.h[edge.source * columns_ + j] += beta_ * of_score * (y - edge.cosine * x) / s;
            result.h[edge.target * columns_ + j] += beta_ * of_score * (x - edge.cosine * y) / t;
        }
    }
    return result;
}

}  // namespace gnnplan::testing
