// Draws the vertices of batches.
#pragma once

#include "runtime/graph/csr.hpp"

#include <gnnplan/ir/sampling.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan::sample {

// Self loops are never drawn: a vertex's degree is that of its other edges, in both directions for Sampler::edge, and
// of those that begin in it for the others.
class Draws {
public:
    // `graph` outlives this object. Throws Error{usage} for a budget, a length or parts that make no batches of it, and
    // what partition() throws.
    Draws(const data::Graph& graph, const Sampling& sampling);

    // The vertices of a batch, ascending, each once. A draw depends on the seed, the number of the batch and its own
    // number in it alone, so that every rank draws the same.
    std::vector<std::int32_t> vertices(std::int64_t batch) const;
    // How many vertices are drawn for a batch, the same ones included.
    std::int64_t drawn() const;
    std::int64_t bytes() const;

private:
    // Random numbers of one draw after the other.
    class Numbers;

    std::int32_t source_of_edge(Numbers& numbers) const;
    std::int32_t target_of(std::int32_t vertex, Numbers& numbers) const;
    std::int32_t neighbour_of(std::int32_t vertex, Numbers& numbers) const;
    void take_nodes(Numbers& numbers, std::vector<std::int32_t>& taken) const;
    void take_edges(Numbers& numbers, std::vector<std::int32_t>& taken) const;
    void take_walks(Numbers& numbers, std::vector<std::int32_t>& taken) const;
    void take_clusters(Numbers& numbers, std::vector<std::int32_t>& taken) const;

    const data::Graph& graph_;
    Sampling sampling_;
    std::vector<std::int32_t> with_edges_;                // that have some, where batches are drawn by edges
    std::vector<std::vector<std::int32_t>> of_clusters_;  // the vertices of each part
};

}  // namespace gnnplan::sample
