// Training on samples of a graph: batches of vertices with the edges among them (GraphSAINT, Zeng et al. 2020;
// Cluster-GCN, Chiang et al. 2019).
#pragma once

#include <cstdint>

namespace gnnplan {

// How the vertices of a batch are drawn.
enum class Sampler : std::uint8_t {
    node,     // with replacement, as often as an edge begins in them
    edge,     // ends of edges, with replacement; p(u, v) ~ 1 / degree(u) + 1 / degree(v)
    walk,     // on random walks from roots that are drawn uniformly, with replacement
    cluster,  // some of METIS's parts, without replacement
};

// A pool of numbered batches, which epochs walk through. It follows from these and the graph.
struct Sampling {
    Sampler sampler = Sampler::walk;
    std::int64_t budget = 1;       // draws of a batch: vertices, edges, roots or parts
    std::int64_t walk_length = 0;  // steps of a walk
    std::int64_t clusters = 0;     // METIS's parts, of which some are drawn
    // Batches are drawn until they have so many vertices for each vertex of the graph, and at least one.
    std::int64_t coverage = 50;
    // Whether edges and losses are weighed by how many batches of the pool have them, so that sums over the pool are
    // those over the graph.
    bool coefficients = true;
    std::uint64_t seed = 0;
    bool operator==(const Sampling&) const = default;
};

// A run on batches: each update of the weights is of some of the pool's, whose losses and gradients are added up.
struct Batches {
    Sampling sampling;
    int per_update = 1;
    bool operator==(const Batches&) const = default;
};

}  // namespace gnnplan
