// The prepared graph: a matrix in compressed sparse rows, and how a list of edges becomes one.
#pragma once

#include "kernels/large_vector.hpp"
#include "runtime/graph/edges.hpp"

#include <gnnplan/ir/matrix_id.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan::data {

// A square sparse matrix: its pattern, and the weights of its edges where the data's are used. Row i holds
// column[row_start[i]] .. column[row_start[i + 1] - 1], ascending, without duplicates.
struct Csr {
    std::int64_t vertices = 0;            // columns, and rows of the whole matrix
    std::vector<std::int64_t> row_start;  // rows + 1
    kernels::LargeVector<std::int32_t> column;
    kernels::LargeVector<float> weight = {};  // of each column, finite; empty: edges have none
    std::int64_t first_row = 0;               // of those that are here: row i is row first_row + i of the matrix

    bool weighted() const { return !weight.empty(); }
    std::int64_t rows() const { return static_cast<std::int64_t>(row_start.size()) - 1; }
    std::int64_t nonzeros() const { return static_cast<std::int64_t>(column.size()); }
    std::int64_t degree(std::int64_t row) const {
        const auto i = static_cast<std::size_t>(row);
        return row_start[i + 1] - row_start[i];
    }
    std::int64_t bytes() const {
        return static_cast<std::int64_t>(row_start.size() * sizeof(std::int64_t) +
                                         column.size() * sizeof(std::int32_t) + weight.size() * sizeof(float));
    }
    bool operator==(const Csr&) const = default;
};

// The graph, or what one rank has of it: some rows of each matrix, numbered as its schedule says.
struct Graph {
    Csr out;                 // A: row u holds the targets v of the edges u -> v
    Csr in;                  // A^T; empty (vertices = 0) when symmetric, because A^T = A then
    bool symmetric = false;  // in its weights too, where it has some
    bool weighted = false;   // with the data's weights; matrices without nonzeros show none
    // The matrices that layers have drawn from A^T (runtime/sample), layer 1 first. Weights say how much an edge stands
    // for.
    std::vector<Csr> drawn = {};
    bool share = false;  // rows of one rank

    // A, or A^T: the matrix of the forward aggregation, whose row v holds the sources u of the edges u -> v.
    const Csr& matrix(MatrixId id) const {
        if (id.sample > 0) return drawn.at(static_cast<std::size_t>(id.sample - 1));
        return id.transposed && !symmetric ? in : out;
    }
    std::int64_t vertices() const { return out.vertices; }
    std::int64_t nonzeros() const { return out.nonzeros(); }
    std::int64_t bytes() const {
        std::int64_t all = out.bytes() + in.bytes();
        for (const Csr& matrix : drawn) all += matrix.bytes();
        return all;
    }
};

// The preparation of the listed edges. Listed self loops are always dropped, and of duplicates one is left, whose
// weight is the sum of theirs.
struct Preparation {
    // Add v -> u for each u -> v, of the same weight. Edges listed in both directions get the mean of the two weights,
    // so that doing it again changes nothing.
    bool symmetrise = false;
    bool add_self_loops = true;  // put one self loop on every vertex, of weight 1
    bool edge_weights = false;   // keep the weights of the edges, which must have some
};

struct PreparationCounts {
    std::int64_t self_loops_dropped = 0;
    std::int64_t duplicates_dropped = 0;  // listings of an edge u -> v beyond its first
    bool directed = false;                // as listed: some u -> v came without v -> u, or with one of another weight
    bool one_way = false;                 // as listed: every u -> v came without v -> u, and there is one
    bool weights_only = false;            // directed, though every u -> v came with v -> u
};

// Builds the graph and consumes the edges. All ids are in [0, vertices). At most three times the bytes of the result
// are live at once when few edges are duplicates. Throws ErrorCode::data when vertices is not in [1, 2^31 - 1], is so
// much larger than the number of edges that the ids cannot be contiguous, or when weights of duplicates add up to more
// than a float holds.
Graph build_graph(EdgeList edges, std::int64_t vertices, const Preparation& preparation, PreparationCounts& counts);

// A^T, with its weights, by counting sort.
Csr transpose(const Csr& matrix);

}  // namespace gnnplan::data
