// A tensor of a schedule: a dense matrix that is laid out over the ranks, or an adjacency.
#pragma once

#include <gnnplan/base/dtype.hpp>
#include <gnnplan/ir/layout.hpp>
#include <gnnplan/ir/matrix_id.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace gnnplan {

using TensorId = std::int32_t;

enum class Role : std::uint8_t {
    adjacency,  // sparse; resident
    features,   // H^0, filled at load; resident, but gone after setup when only setup reads it
    labels,     // i32 per vertex, its class; or a bit for each element of the logits; resident
    subset,     // u8 per vertex: 0 train, 1 valid, 2 test, 255 none; resident
    vertices,   // i32: the user's number of the vertex of each row; resident
    counts_as,  // f32 per row: by how much of a vertex it is counted in the loss; resident
    weight,     // W^l; resident
    bias,       // b^l; resident
    moment,     // Adam's first and second moments; resident
    cached,     // made in setup, read in every epoch and evaluation
    transient,  // lives from its first to its last use within a phase
    // Values for each nonzero of an adjacency, where the adjacency has them: `structure` says of which, rows are those
    // of the adjacency, and columns say how many a nonzero has. Lives as long as a transient.
    edges,
    // Summands of a product with a cut adjacency, `structure`: a row for each of its rows in which a rank's part holds
    // a nonzero. Lives as long as a transient.
    summands,
    // Rows of clones that groups have sent each other and not used yet, of all bins: those that the rank sends, and
    // those that it receives. Resident.
    in_flight,
    known_labels,  // a bit for each label: whether the vertex's is known; resident
};

// Whether the executor fills it, or keeps it, before any step runs.
bool is_resident(Role role);
// Whether the graph says how many rows a rank has: those of edges and summands, and those in flight.
bool has_counted_rows(Role role);
// Whether training changes it and candidates hand it on: weights, biases and moments.
bool is_model_state(Role role);

// How the nonzeros of an adjacency are stored and come.
struct Storage {
    // Columns only, entry (i, j) being row_scale[i] * column_scale[j].
    bool factored = false;
    // Source panels: a block of more than this many columns is cut into panels of as many or fewer columns, which a
    // product walks one after the other; 0: one panel.
    std::int64_t panel_columns = 0;
    // In how many pieces the dense rows of another rank come.
    int splits = 1;
    // Where products overlap, how many pieces are on their way while one is multiplied; 0: as many as there are splits.
    int ahead = 0;
    int pieces_ahead() const { return ahead > 0 ? ahead : splits; }
    bool operator==(const Storage&) const = default;
};

struct Tensor {
    std::string name;
    Role role = Role::transient;
    DType dtype = DType::f32;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    Layout layout;
    bool transposed = false;  // of adjacency: A^T, the matrix of the forward pass
    Storage storage{};        // of adjacency
    // For an adjacency: its transpose, if that has the same pattern; both then use the transpose's nonzeros, each with
    // its own scales. For values of edges: the adjacency whose nonzeros they belong to. For summands: the product's.
    std::optional<TensorId> structure{};
    // The row space, and an adjacency's column space, as indices into Schedule::spaces; parameters and sums have none.
    std::optional<int> space{};
    std::optional<int> column_space{};
    std::optional<int> parameter{};  // of weights and biases: index into Schedule::parameters
    int sample = 0;                  // of adjacency: the layer that has drawn its edges; 0: it has all edges

    // Whether it is the adjacency of the graphs of groups, each of which has rows and columns of its own.
    bool in_groups() const { return role == Role::adjacency && layout.columns.contains(Axis::x); }
    // The matrix that an adjacency is: all of it, whatever part of a cut a rank has.
    MatrixId matrix() const {
        const MatrixId of_graph(transposed, sample);
        return in_groups() ? groups_of(of_graph) : of_graph;
    }
    // Whether this is an adjacency whose nonzeros are dealt to the ranks along x as parts of a cut.
    bool cut() const { return role == Role::adjacency && layout.partial.contains(Axis::x); }
    // The matrix that the rank has nonzeros of.
    MatrixId matrix_on(const Grid& grid, int rank) const {
        return cut() ? part_of(matrix(), grid.coordinate(rank, Axis::x)) : matrix();
    }
};

}  // namespace gnnplan
