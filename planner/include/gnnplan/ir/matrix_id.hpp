// A MatrixId names one of the sparse matrices of a graph.
#pragma once

#include <tuple>

namespace gnnplan {

// A^T (the forward matrix) or A, of all edges of the graph, of those that a layer has drawn, of a part of a cut, or of
// the graphs of all groups, one after the other.
struct MatrixId {
    static constexpr int any_sample = -1;
    static constexpr int all_parts = -1;
    static constexpr int of_groups = -2;

    bool transposed = false;
    int sample = 0;  // the layer that has drawn its edges; 0: all edges; any_sample: what some layer has drawn
    // The part, of the cut that the vertices are numbered by, that has its edges; else all_parts or of_groups.
    int part = all_parts;

    explicit constexpr MatrixId(bool is_transposed, int drawn_for = 0) : transposed(is_transposed), sample(drawn_for) {}
    bool is_part() const { return part >= 0; }
    bool operator==(const MatrixId&) const = default;
    bool operator<(const MatrixId& other) const {
        return std::tuple(sample, transposed, part) < std::tuple(other.sample, other.transposed, other.part);
    }
};

// The same matrix, the nonzeros of one part of a cut.
constexpr MatrixId part_of(MatrixId matrix, int part) {
    matrix.part = part;
    return matrix;
}

// The graphs of groups in place of the graph.
constexpr MatrixId groups_of(MatrixId matrix) { return part_of(matrix, MatrixId::of_groups); }

// Its transpose, the same edges.
constexpr MatrixId transpose_of(MatrixId matrix) {
    matrix.transposed = !matrix.transposed;
    return matrix;
}

// Matrices of all edges.
inline constexpr MatrixId forward_matrix(true), backward_matrix(false);

}  // namespace gnnplan
