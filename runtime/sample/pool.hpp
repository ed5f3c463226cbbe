// A pool of batches (GraphSAINT, Zeng et al. 2020): numbered from 0 on, drawn from a seed, with the coefficients that
// are counted over just these. None is kept: a batch is drawn again where it is trained on.
#pragma once

#include "kernels/large_vector.hpp"
#include "runtime/graph/clones.hpp"
#include "runtime/sample/draws.hpp"
#include "runtime/sample/induced.hpp"

#include <gnnplan/ir/sampling.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace gnnplan::sample {

struct BatchSize {
    std::int64_t vertices = 0;
    std::int64_t nonzeros = 0;   // of A^T, and of A
    std::int64_t training = 0;   // vertices that train
    std::int64_t looked_at = 0;  // nonzeros of the graph in the rows of its vertices, of all matrices
    bool operator==(const BatchSize&) const = default;
};

// Ranks that draw a pool together: each counts a share of the batches, and all add up what they have counted. Both
// functions add values up over all ranks, in place, and are called by all ranks for as many values.
struct PoolRanks {
    int rank = 0, ranks = 1;
    std::function<void(std::span<double>)> add_sizes = {};
    std::function<void(std::span<float>)> add_counts = {};
};

class Pool {
public:
    // The graph outlives the pool; `subset` holds a Subset for each vertex; empty, all train. Takes 4 bytes for each
    // vertex and, where there are coefficients, nonzero, and a graph of the training vertices where batches are of
    // these. Throws what Draws throws, and Error{usage} for more than ten million batches and where no vertex trains.
    Pool(const data::Graph& graph, std::vector<std::uint8_t> subset, const Sampling& sampling);

    // Draws and counts all batches, with the threads of the rank: about `coverage` visits of each nonzero by all ranks
    // together. Once, before all else; collective where there are several ranks.
    void draw(const PoolRanks& ranks = {});
    // How many values draw() adds up of sizes, and of counts, call by call.
    std::vector<std::int64_t> added_sizes(int ranks) const;
    std::vector<std::int64_t> added_counts() const;

    const Sampling& sampling() const { return sampling_; }
    const std::vector<BatchSize>& sizes() const { return sizes_; }
    // 0 where every update draws anew, so that numbers have no end: sizes() has one then, that of all.
    std::int64_t batches() const { return sampling_.has_pool() ? std::ssize(sizes_) : 0; }
    const BatchSize& size_of(std::int64_t batch) const { return sizes_[sampling_.has_pool() ? at(batch) : 0]; }
    const BatchMeans& means() const { return means_; }
    // As many as draw each vertex of the graph once in the mean, the same ones in a batch counted again.
    std::int64_t batches_of_epoch() const;
    // Vertices that train, and those of them that no batch has.
    std::int64_t training() const { return training_; }
    std::int64_t uncovered_training() const;
    // Those of these that have no edge to another vertex, by which some samplers draw; that begin none, for `node`.
    std::int64_t isolated_training() const;
    // Throws Error{usage} where no batch has a vertex that trains.
    void refuse_idle() const;
    // Edges of the graph that no batch has: nonzeros of A^T. Counted where there are coefficients.
    std::int64_t uncovered() const { return uncovered_; }
    // Batches that have no training vertex.
    std::int64_t without_training() const { return std::ranges::count(sizes_, 0, &BatchSize::training); }

    // The graph that batches are drawn from, and the number in it of a vertex of the whole graph that it has.
    const data::Graph& sampled() const { return graph_; }
    std::int64_t sampled(std::int64_t vertex) const { return number_.empty() ? vertex : number_[at(vertex)]; }
    // In how many batches a vertex of that graph, and, where there are coefficients, the edge of a nonzero of A^T or A,
    // are.
    std::int64_t batches_with(std::int64_t vertex) const {
        return sampling_.has_pool() ? static_cast<std::int64_t>(of_vertices_[at(vertex)]) : 1;
    }
    std::int64_t batches_with(MatrixId matrix, std::int64_t nonzero) const {
        return static_cast<std::int64_t>((of_targets(matrix) ? of_targets_ : of_sources_)[at(nonzero)]);
    }

    // These batches as the graphs of as many groups. With coefficients an edge has its weight over the number of
    // batches that have it; values are to be scaled by batches_with(target) besides, so that a target's sum is unbiased
    // over the batches that have it (equation 2 of the paper, of the target). A vertex's loss counts as the number of
    // batches over those that have it, so that losses over the pool are in the mean that of the graph; without
    // coefficients, as training vertices of the graph over those of its batch. Only the batches at the positions `own`
    // are drawn: the others have as many vertices as if they were, without edges, and nobody knows which.
    data::Clones graphs(std::span<const std::int64_t> numbers, Range own, Induced& room) const;
    // Graphs of so many groups that those of no `batches` batches exceed: each group has the batch with most nonzeros
    // as often as it has batches, and vertices without edges until it has as many as the largest batches have. They
    // have another number of vertices than the graph in all.
    data::Clones largest(int batches, int groups) const;
    std::int64_t bytes() const;  // of what is kept to draw batches, with the room for one

private:
    bool of_targets(MatrixId matrix) const { return !graph_.symmetric && !matrix.transposed; }
    std::int64_t batches_of_round(int ranks) const;
    struct Round;
    void draw_round(const PoolRanks& ranks, std::int64_t first, Round& round);
    void take_means();
    BatchSize add(std::span<const std::int32_t> vertices, float count, Induced& room);
    data::Clones none() const;
    void add_mask(std::int64_t number, data::Clones& made) const;
    void add_batch(std::int64_t batch, Induced& room, data::Clones& made) const;
    void add_vertices(std::int64_t until, data::Clones& made) const;
    void set_vertices(data::Clones& made) const;
    void add_matrix(MatrixId which, std::int64_t first, const Induced& room, data::Csr& made) const;
    float weight(MatrixId which, const data::Csr& matrix, std::int64_t nonzero) const;
    float counts_as(std::int64_t vertex, std::int64_t batch) const;
    bool trains(std::int64_t vertex) const;
    bool is_uncovered(std::int64_t vertex) const { return trains(vertex) && of_vertices_[at(vertex)] == 0; }
    bool is_isolated(std::int64_t vertex) const;

    std::int64_t vertex(std::int64_t sampled) const { return vertex_.empty() ? sampled : vertex_[at(sampled)]; }

    std::int64_t all_vertices_;
    // Where batches are of the training vertices, these, the number of each among them, or -1, and their graph.
    std::vector<std::int32_t> vertex_, number_;
    data::Graph own_;
    const data::Graph& graph_;
    std::vector<std::uint8_t> subset_;
    std::int64_t training_ = 0;
    Sampling sampling_;
    Draws draws_;
    std::vector<BatchSize> sizes_;
    BatchMeans means_;  // of these, which planning asks for each configuration
    std::int64_t uncovered_ = 0;
    // Numbers of batches, which are exact as floats: ranks add these up.
    kernels::LargeVector<float> of_vertices_;
    // These count for each nonzero of A^T, which has the sources of vertices, and of A where it is another matrix.
    kernels::LargeVector<float> of_sources_, of_targets_;
};

}  // namespace gnnplan::sample
