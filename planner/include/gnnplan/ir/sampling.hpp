// Training on samples of a graph: batches of vertices with the edges among them (GraphSAINT, Zeng et al. 2020;
// Cluster-GCN, Chiang et al. 2019).
#pragma once

#include <cstdint>
#include <optional>

namespace gnnplan {

// How the vertices of a batch are drawn.
enum class Sampler : std::uint8_t {
    node,     // with replacement, as often as an edge begins in them
    edge,     // ends of edges, with replacement; p(u, v) ~ 1 / degree(u) + 1 / degree(v)
    walk,     // on random walks from roots that are drawn uniformly, with replacement
    cluster,  // some of METIS's parts, without replacement
    // All vertices, each with some of its in-neighbours, which are drawn anew for each update: there is no pool.
    neighbours,
};

// A pool of numbered batches, which epochs walk through. It follows from these and the graph.
struct Sampling {
    Sampler sampler = Sampler::walk;
    std::int64_t budget = 1;       // draws of a batch: vertices, edges, roots or parts; of a vertex: in-neighbours
    std::int64_t walk_length = 0;  // steps of a walk
    std::int64_t clusters = 0;     // METIS's parts, of which some are drawn
    // Batches are drawn until they have so many vertices for each vertex of the graph, and at least one.
    std::int64_t coverage = 50;
    // Whether edges and losses are weighed by how many batches of the pool have them, so that sums over the pool are
    // those over the graph.
    bool coefficients = true;
    // Whether batches are of the graph among the training vertices alone (inductive), and not of the whole graph.
    bool training_graph = false;
    std::uint64_t seed = 0;
    bool has_pool() const { return sampler != Sampler::neighbours; }
    bool operator==(const Sampling&) const = default;
};

// How many vertices are drawn for a batch of a graph of so many, the same ones included.
std::int64_t drawn_vertices(const Sampling& sampling, std::int64_t vertices);
// Throws Error{usage} for a budget, a length or parts that make no batches of a graph of so many vertices.
void check_sampling(const Sampling& sampling, std::int64_t vertices);

// Means over the batches of a pool.
struct BatchMeans {
    double vertices = 0;
    double nonzeros = 0;   // of A^T, and of A
    double looked_at = 0;  // nonzeros of the graph that drawing the batch's edges looks at, of all matrices
};

// A run on batches: each update of the weights is of some of the pool's, whose losses and gradients are added up.
struct Batches {
    Sampling sampling;
    int per_update = 1;
    bool operator==(const Batches&) const = default;
};

// Whether the matrices of a graph that is symmetric are, as epochs multiply by them: u may draw v, and v not u.
inline bool multiplies_symmetric(bool symmetric, const std::optional<Batches>& batches) {
    return symmetric && (!batches || batches->sampling.has_pool());
}

}  // namespace gnnplan
