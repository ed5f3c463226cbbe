// Which matrix of a graph.
#pragma once

#include <utility>

namespace gnnplan {

// A^T (the forward matrix) or A, of all edges of the graph or of those that a layer has drawn.
struct MatrixId {
    static constexpr int any_sample = -1;

    bool transposed = false;
    int sample = 0;  // the layer that has drawn its edges; 0: all edges; any_sample: what some layer has drawn

    explicit constexpr MatrixId(bool is_transposed, int drawn_for = 0) : transposed(is_transposed), sample(drawn_for) {}
    bool operator==(const MatrixId&) const = default;
    bool operator<(const MatrixId& other) const {
        return std::pair(sample, transposed) < std::pair(other.sample, other.transposed);
    }
};

// Matrices of all edges.
inline constexpr MatrixId forward_matrix(true), backward_matrix(false);

}  // namespace gnnplan
