#include "planner/ir/expected_batches.hpp"

#include <gnnplan/ir/graph_stats.hpp>

#include <algorithm>
#include <cmath>

namespace gnnplan {
namespace {

double expected_vertices(const Sampling& sampling, double all) {
    if (!sampling.has_pool()) return all;
    const auto drawn = static_cast<double>(drawn_vertices(sampling, std::llround(all)));
    return sampling.sampler == Sampler::cluster ? drawn : -all * std::expm1(-drawn / all);
}

// Returns the sizes of the graph that batches are drawn from: that of all vertices, or that of the training vertices.
SampledSizes sampled_sizes(const UniformStats& graph, const Sampling& sampling, double train_fraction) {
    const auto vertices = static_cast<double>(graph.vertices()), nonzeros = static_cast<double>(graph.nonzeros());
    const bool loops = nonzeros >= vertices;
    const double share = sampling.training_graph ? train_fraction : 1;
    return {std::max(1.0, share * vertices), share * share * (nonzeros - (loops ? vertices : 0)), loops,
            graph.symmetric()};
}

}  // namespace

BatchMeans expected_batches(const Sampling& sampling, const SampledSizes& of) {
    BatchMeans mean;
    mean.vertices = std::max(1.0, expected_vertices(sampling, of.vertices));
    const double share = mean.vertices / of.vertices;
    const double loops = of.loops ? mean.vertices : 0;
    const double drawn = mean.vertices * static_cast<double>(sampling.budget);
    mean.nonzeros = loops + (sampling.has_pool() ? of.edges * share * share : std::min(of.edges, drawn));
    mean.looked_at = (of.symmetric || !sampling.has_pool() ? 1 : 2) * of.nonzeros() * share;
    return mean;
}

std::int64_t expected_pool_bytes(const Sampling& sampling, const SampledSizes& of) {
    constexpr double bytes_of_size = 32;
    const double batches =
        sampling.has_pool()
            ? std::ceil(static_cast<double>(sampling.coverage) * of.vertices / expected_batches(sampling, of).vertices)
            : 1;
    const double of_edges = sampling.coefficients ? (of.symmetric ? 1 : 2) * of.nonzeros() : 0;
    const double counted = sampling.has_pool() ? of.vertices + of_edges : 0;
    const double listed = sampling.sampler == Sampler::walk || !sampling.has_pool() ? 0 : of.vertices;
    return std::llround(bytes_of_size * batches + 4 * (counted + listed) + 5 * of.vertices);
}

BatchMeans UniformStats::batch_means() const {
    if (!batches_) return {};
    return expected_batches(batches_->sampling, sampled_sizes(*this, batches_->sampling, train_fraction_));
}

std::int64_t UniformStats::pool_bytes() const {
    if (!batches_) return 0;
    return expected_pool_bytes(batches_->sampling, sampled_sizes(*this, batches_->sampling, train_fraction_));
}

// As Pool::largest() makes them, which have another number of vertices than the graph in all.
std::vector<UniformStats::Band> UniformStats::bands_of_batches(int groups) const {
    const BatchMeans mean = batch_means();
    const int of_group = batches_->per_update / groups;
    const std::int64_t rows = of_group * std::llround(mean.vertices);
    std::vector<Band> bands;
    std::int64_t first = 0;
    for (int group = 0; group < groups; ++group) {
        std::int64_t end = first + rows + (rows * groups == vertices_ && group + 1 == groups ? 1 : 0);
        if (!known_groups_.empty()) end = known_groups_[static_cast<std::size_t>(group) + 1];
        bands.push_back({{first, end}, {first, end}, of_group * std::llround(mean.nonzeros)});
        first = end;
    }
    return bands;
}

}  // namespace gnnplan
