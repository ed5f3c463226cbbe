#include "tests/support/serial_attention.hpp"

#include "kernels/reference/attention.hpp"

#include <gnnplan/base/at.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gnnplan::testing {
namespace {

double dot(const double* x, const double* y, std::size_t n) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += x[j] * y[j];
    return sum;
}

}  // namespace

SerialAttention::SerialAttention(const SerialProblem& problem, const SerialSettings& settings, const Op& op,
                                 std::uint32_t epoch, const std::vector<double>& h, const std::vector<double>& source,
                                 const std::vector<double>& target)
    : heads_(op.heads),
      columns_(source.size() / at(op.heads.count)),
      h_(h),
      source_(source),
      target_(target),
      edges_(at(op.heads.count)) {
    const kernels::PassValues pass = kernels::pass_values(epoch);
    const kernels::AttentionDropout dropout{
        settings.seed, &pass, static_cast<std::uint32_t>(op.layer), settings.attention_dropout, 0, op.heads.count};
    const std::size_t heads = edges_.size(), all = heads * columns_;
    const SparseMatrix& m = problem.matrix(op.layer);
    std::vector<double> sums(at(m.size) * all, 0.0);
    for (std::size_t k = 0; k < heads; ++k) {
        for (std::int64_t v = 0; v < m.size; ++v) {
            const std::size_t begin = edges_[k].size();
            double total = 0, largest = -std::numeric_limits<double>::infinity();
            const auto leaky = [&](double x) { return x > 0 ? x : heads_.slope * x; };
            for (std::int64_t e = m.row_start[at(v)]; e < m.row_start[at(v + 1)]; ++e) {
                const std::int64_t u = m.column[at(e)];
                const double score = dot(&h_[at(u) * all + k * columns_], &source_[k * columns_], columns_) +
                                     dot(&h_[at(v) * all + k * columns_], &target_[k * columns_], columns_);
                const double kept = kernels::reference::weight_kept(dropout, problem.vertex_of(u), problem.vertex_of(v),
                                                                    static_cast<std::int64_t>(k));
                edges_[k].push_back({at(u), at(v), score, 0, kept});
                largest = std::max(largest, leaky(score));
            }
            for (std::size_t e = begin; e < edges_[k].size(); ++e)
                total += edges_[k][e].weight = std::exp(leaky(edges_[k][e].score) - largest);
            for (std::size_t e = begin; e < edges_[k].size(); ++e) {
                Edge& edge = edges_[k][e];
                edge.weight /= total;
                for (std::size_t j = k * columns_; j < (k + 1) * columns_; ++j)
                    sums[edge.target * all + j] += edge.kept * edge.weight * h_[edge.source * all + j];
            }
        }
    }
    if (!heads_.average) {
        value_ = std::move(sums);
        return;
    }
    value_.assign(at(m.size) * columns_, 0.0);
    for (std::size_t i = 0; i < sums.size(); ++i)
        value_[i / all * columns_ + i % columns_] += sums[i] / static_cast<double>(heads);
}

double SerialAttention::kink_distance() const {
    double distance = std::numeric_limits<double>::infinity();
    for (const auto& edges : edges_) {
        for (const Edge& edge : edges) {
            if (edge.score != 0) distance = std::min(distance, std::abs(edge.score));
        }
    }
    return distance;
}

SerialAttention::Gradients SerialAttention::gradients(const std::vector<double>& of_value) const {
    const std::size_t heads = edges_.size(), all = heads * columns_, vertices = h_.size() / all;
    std::vector<double> g = of_value;
    if (heads_.average) {
        g.assign(h_.size(), 0.0);
        for (std::size_t i = 0; i < g.size(); ++i)
            g[i] = of_value[i / all * columns_ + i % columns_] / static_cast<double>(heads);
    }
    Gradients result{std::vector<double>(h_.size(), 0.0), std::vector<double>(source_.size(), 0.0),
                     std::vector<double>(target_.size(), 0.0)};
    for (std::size_t k = 0; k < heads; ++k) {
        const auto part = [&](std::size_t vertex) { return vertex * all + k * columns_; };
        std::vector<double> of_weights, mean(vertices, 0.0), of_s(vertices, 0.0), of_t(vertices, 0.0);
        for (const Edge& edge : edges_[k]) {
            of_weights.push_back(edge.kept * dot(&g[part(edge.target)], &h_[part(edge.source)], columns_));
            mean[edge.target] += edge.weight * of_weights.back();
        }
        for (std::size_t e = 0; e < edges_[k].size(); ++e) {
            const Edge& edge = edges_[k][e];
            const double of_score =
                edge.weight * (of_weights[e] - mean[edge.target]) * (edge.score > 0 ? 1.0 : heads_.slope);
            of_s[edge.source] += of_score, of_t[edge.target] += of_score;
            for (std::size_t j = 0; j < columns_; ++j)
                result.h[part(edge.source) + j] += edge.kept * edge.weight * g[part(edge.target) + j];
        }
        for (std::size_t v = 0; v < vertices; ++v) {
            for (std::size_t j = 0; j < columns_; ++j) {
                const std::size_t p = k * columns_ + j;
                result.source[p] += of_s[v] * h_[part(v) + j];
                result.target[p] += of_t[v] * h_[part(v) + j];
                result.h[part(v) + j] += of_s[v] * source_[p] + of_t[v] * target_[p];
            }
        }
    }
    return result;
}

}  // namespace gnnplan::testing
