#include "runtime/sample/draws.hpp"

#include "runtime/graph/partition.hpp"
#include "runtime/graph/streams.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace gnnplan::sample {
namespace {

using data::Csr;

// Whether a row of so many nonzeros has one that is no loop.
bool has_others(const Csr& matrix, std::int32_t vertex, std::int64_t degree) {
    return degree > 1 || (degree == 1 && matrix.column[at(matrix.row_start[at(vertex)])] != vertex);
}

bool has_edges(const data::Graph& graph, std::int32_t vertex) {
    const Csr &targets = graph.matrix(backward_matrix), &sources = graph.matrix(forward_matrix);
    return has_others(targets, vertex, targets.degree(vertex)) || has_others(sources, vertex, sources.degree(vertex));
}

}  // namespace

class Draws::Numbers {
public:
    Numbers(const Sampling& sampling, std::int64_t batch)
        : random_(sampling.seed, data::batch_stream), batch_(static_cast<std::uint64_t>(batch)) {}

    // The numbers from here on are those of draw `i`.
    void begin(std::int64_t i) { draw_ = static_cast<std::uint64_t>(i), used_ = 0; }
    std::int64_t below(std::int64_t bound) {
        constexpr std::uint64_t of_draws = std::uint64_t{1} << 40;
        if (used_ % 2 == 0) pair_ = random_.at(batch_, (used_ / 2) * of_draws + draw_);
        return data::below(pair_[used_++ % 2], bound);
    }

private:
    kernels::RandomStream random_;
    std::uint64_t batch_;
    std::uint64_t draw_ = 0;
    std::uint64_t used_ = 0;
    std::array<std::uint64_t, 2> pair_{};
};

Draws::Draws(const data::Graph& graph, const Sampling& sampling) : graph_(graph), sampling_(sampling) {
    check_sampling(sampling, graph.vertices());
    const auto n = static_cast<std::int32_t>(graph.vertices());
    if (sampling.sampler == Sampler::node || sampling.sampler == Sampler::edge) {
        for (std::int32_t v = 0; v < n; ++v) {
            if (has_edges(graph, v)) with_edges_.push_back(v);
        }
        if (with_edges_.empty()) {
            throw Error(ErrorCode::usage, "the sampled graph has no edges to draw batches by", "`sampler`",
                        "sample by walks or clusters");
        }
    }
    if (sampling.sampler != Sampler::cluster) return;
    const std::vector<std::int32_t> part = data::partition(graph, static_cast<int>(sampling.clusters));
    of_clusters_.resize(at(sampling.clusters));
    for (std::int32_t v = 0; v < n; ++v) of_clusters_[at(part[at(v)])].push_back(v);
}

std::int64_t Draws::drawn() const { return drawn_vertices(sampling_, graph_.vertices()); }

std::int64_t Draws::bytes() const {
    std::size_t vertices = with_edges_.size();
    for (const std::vector<std::int32_t>& of_cluster : of_clusters_) vertices += of_cluster.size();
    return static_cast<std::int64_t>(vertices * sizeof(std::int32_t));
}

std::vector<std::int32_t> Draws::vertices(std::int64_t batch) const {
    Numbers numbers(sampling_, batch);
    std::vector<std::int32_t> taken;
    taken.reserve(at(drawn()));
    switch (sampling_.sampler) {
        case Sampler::node: take_nodes(numbers, taken); break;
        case Sampler::edge: take_edges(numbers, taken); break;
        case Sampler::walk: take_walks(numbers, taken); break;
        case Sampler::cluster: take_clusters(numbers, taken); break;
        case Sampler::neighbours: throw Error(ErrorCode::internal, "all vertices are in every update");
    }
    std::ranges::sort(taken);
    taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
    return taken;
}

// Returns the source of a random nonzero of A^T that is no loop.
std::int32_t Draws::source_of_edge(Numbers& numbers) const {
    const Csr& sources = graph_.matrix(forward_matrix);
    for (;;) {
        const std::int64_t edge = numbers.below(sources.nonzeros());
        const auto row = std::upper_bound(sources.row_start.begin(), sources.row_start.end(), edge) - 1;
        const std::int32_t source = sources.column[at(edge)];
        if (source != row - sources.row_start.begin()) return source;
    }
}

// The end of a random edge of the vertex that is not the vertex itself; the vertex where it has none. A loop is drawn
// again.
std::int32_t Draws::target_of(std::int32_t vertex, Numbers& numbers) const {
    const Csr& targets = graph_.matrix(backward_matrix);
    const std::int64_t begin = targets.row_start[at(vertex)], degree = targets.degree(vertex);
    if (!has_others(targets, vertex, degree)) return vertex;
    for (;;) {
        const std::int32_t end = targets.column[at(begin + numbers.below(degree))];
        if (end != vertex) return end;
    }
}

// The same of a vertex of with_edges_, in both directions.
std::int32_t Draws::neighbour_of(std::int32_t vertex, Numbers& numbers) const {
    if (graph_.symmetric) return target_of(vertex, numbers);
    const Csr &targets = graph_.matrix(backward_matrix), &sources = graph_.matrix(forward_matrix);
    const std::int64_t out = targets.degree(vertex);
    for (;;) {
        const std::int64_t i = numbers.below(out + sources.degree(vertex));
        const std::int32_t end = i < out ? targets.column[at(targets.row_start[at(vertex)] + i)]
                                         : sources.column[at(sources.row_start[at(vertex)] + i - out)];
        if (end != vertex) return end;
    }
}

void Draws::take_nodes(Numbers& numbers, std::vector<std::int32_t>& taken) const {
    for (std::int64_t i = 0; i < sampling_.budget; ++i) {
        numbers.begin(i);
        taken.push_back(source_of_edge(numbers));
    }
}

// An edge is drawn by either of its ends, of which each has the probability 1 / degree.
void Draws::take_edges(Numbers& numbers, std::vector<std::int32_t>& taken) const {
    for (std::int64_t i = 0; i < sampling_.budget; ++i) {
        numbers.begin(i);
        const std::int32_t end = with_edges_[at(numbers.below(std::ssize(with_edges_)))];
        taken.push_back(end);
        taken.push_back(neighbour_of(end, numbers));
    }
}

void Draws::take_walks(Numbers& numbers, std::vector<std::int32_t>& taken) const {
    for (std::int64_t i = 0; i < sampling_.budget; ++i) {
        numbers.begin(i);
        auto here = static_cast<std::int32_t>(numbers.below(graph_.vertices()));
        taken.push_back(here);
        for (std::int64_t step = 0; step < sampling_.walk_length; ++step) {
            here = target_of(here, numbers);
            taken.push_back(here);
        }
    }
}

// As many different parts as the budget says (Floyd's algorithm: Bentley and Floyd 1987).
void Draws::take_clusters(Numbers& numbers, std::vector<std::int32_t>& taken) const {
    std::vector<bool> chosen(at(sampling_.clusters), false);
    for (std::int64_t i = 0; i < sampling_.budget; ++i) {
        numbers.begin(i);
        const std::int64_t last = sampling_.clusters - sampling_.budget + i;
        const std::int64_t wanted = numbers.below(last + 1);
        const std::int64_t part = chosen[at(wanted)] ? last : wanted;
        chosen[at(part)] = true;
        taken.insert(taken.end(), of_clusters_[at(part)].begin(), of_clusters_[at(part)].end());
    }
}

}  // namespace gnnplan::sample
