// A schedule: a table of tensors and the list of steps over them. The cost model folds over it, the executor runs it,
// the plan file carries it. Nothing predicts what nothing runs.
#pragma once

#include <gnnplan/base/dtype.hpp>
#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/layout.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gnnplan {

using TensorId = std::int32_t;

enum class Role : std::uint8_t {
    adjacency,  // sparse; resident
    features,   // H^0, filled at load; resident, but gone after setup when only setup reads it
    labels,     // i32 per vertex; resident
    subset,     // u8 per vertex: 0 train, 1 valid, 2 test, 255 none; resident
    vertices,   // i32: the user's number of the vertex of each row; resident
    weight,     // W^l; resident
    bias,       // b^l; resident
    moment,     // Adam's first and second moments; resident
    cached,     // made in setup, read in every epoch and evaluation
    transient,  // lives from its first to its last use within a phase
};

// Whether the executor fills it, or keeps it, before any step runs.
bool is_resident(Role role);

struct Tensor {
    std::string name;
    Role role = Role::transient;
    DType dtype = DType::f32;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    Layout layout;
    int layer = 0;            // of weights, biases and moments: the layer they belong to
    bool transposed = false;  // of adjacency: A^T, the matrix of the forward pass
    int splits = 1;           // of adjacency: in how many pieces the dense rows of another rank come

    // How the nonzeros of an adjacency are stored. Factored: columns only, entry (i, j) being row_scale[i] *
    // column_scale[j]. Source panels: a block of more than this many columns is cut into panels of as many or fewer
    // columns, which a product walks one after the other; 0: one panel.
    bool factored = false;
    std::int64_t panel_columns = 0;
    // Another adjacency, its transpose, that has the same pattern: both use its nonzeros, each with its own scales.
    std::optional<TensorId> structure{};
};

// out = M in. `matrix` has its rows over x and its contraction side over z, over z and y, or over y (pieces.hpp). `in`
// is in C, or in F when the contraction side is over y; `out` has its rows over x and is partial over the axes that
// split the contraction side. The rows of `in` that other ranks hold come piece by piece; with `overlap` the next piece
// is on its way while one is multiplied. With `bf16` the rows that a panel meets are kept in cache as bfloat16, to
// which they are rounded: not with overlap, nor with needed rows, where nothing is packed.
struct SpmmStep {
    TensorId matrix, in, out;
    Exchange exchange;
    bool overlap;
    bool bf16 = false;
};
// Whether a product can, with these switches.
constexpr bool packs_panels(Exchange exchange, bool overlap) { return !overlap && exchange != Exchange::rows; }

// For each piece of `matrix`, tells the rank that holds the dense rows which of them are needed. Once, in setup, for
// every matrix whose products exchange needed rows.
struct IndexStep {
    TensorId matrix;
};

// out = the sum of `in` over the one axis over which it is partial, each rank of which gets its block of the rows: they
// are split over that axis too. `in` is used up.
struct ReduceScatterStep {
    TensorId in, out;
};

// out = in * W, or in * W^T (transposed): rows stay where they are, W is replicated. Where `in` is in F, `out` may be
// in C: each rank multiplies by its columns of W (column-parallel).
struct GemmStep {
    TensorId in, weight, out;
    bool transposed;
};

// The same matrix in another of the layouts C, R and F: every rank sends the intersections of its block with the blocks
// others need. Out of F nothing is sent.
struct RedistributeStep {
    TensorId in, out;
};

// gradient = left^T * right over the local rows, a partial sum on every rank: both in R, or `left` in F and `right` in
// C, whose columns are then the only ones that are not 0.
struct WeightGradStep {
    TensorId left, right, gradient;
};

// Sums a partial tensor over all ranks, in place: afterwards every rank holds the sum.
struct AllReduceStep {
    TensorId tensor;
};

enum class MapOp : std::uint8_t {
    activate,  // in place: tensor = dropout(relu(tensor + operand)), out = bits (tensor > 0); operand, the bias, and
               // out are optional
    dropout,   // out = dropout(tensor); where no element is dropped, out is the tensor itself
    positive_mask,  // out = bits (tensor > 0)
    apply_mask,     // in place: tensor = tensor * operand bits / (1 - p)
    column_sum,     // out = column sums of tensor over the local rows, zero elsewhere: a partial sum
};

// Elementwise work on local blocks.
struct MapStep {
    MapOp op;
    TensorId tensor;
    std::optional<TensorId> operand;
    std::optional<TensorId> out;
    int layer;     // whose dropout probability and key apply: the layer that reads the tensor
    bool relu;     // of activate
    bool dropout;  // of activate and apply_mask: whether dropout takes part
    std::optional<TensorId> vertices =
        std::nullopt;  // of activate and dropout: whose numbers key the draws, if not rows
};

// Softmax cross-entropy over the training vertices: turns logits into their gradient in place; `loss` (1 x 1, f64,
// partial) gets the local sum. Logits in C are column-parallel: the ranks of a y-group gather each other's maximum and
// sum of exponentials of every row.
struct LossStep {
    TensorId logits, labels, subset, loss;
};

// counts (1 x 3, f64, partial): correctly classified vertices of train, valid and test.
struct ScoreStep {
    TensorId logits, labels, subset, counts;
};

// One Adam step on a weight or a bias.
struct UpdateStep {
    TensorId weight, gradient, moment1, moment2;
};

using Operation = std::variant<SpmmStep, IndexStep, ReduceScatterStep, GemmStep, RedistributeStep, WeightGradStep,
                               AllReduceStep, MapStep, LossStep, ScoreStep, UpdateStep>;

// Setup runs once before the first epoch; the epoch is one steady-state training epoch; evaluation runs when asked.
enum class Phase : std::uint8_t { setup, epoch, evaluation };

struct Step {
    std::string name;  // unique within the schedule, e.g. "forward.1.spmm"
    Phase phase = Phase::epoch;
    Operation operation;
};

struct Schedule {
    Grid grid;
    Numbering numbering;  // of the vertices: rows of all tensors count in it
    std::vector<Tensor> tensors;
    std::vector<Step> steps;  // in execution order within each phase
};

// "spmm", "index", "reduce_scatter", "gemm", "redistribute", "weight_grad", "all_reduce", "map", "loss", "score" or
// "update".
std::string_view kind_of(const Operation& operation);

// Tensors the step reads and writes, in no particular order; a tensor updated in place is in both.
struct Operands {
    std::vector<TensorId> reads;
    std::vector<TensorId> writes;
};
Operands operands_of(const Operation& operation);

// The tensor whose shape describes the step in reports: the dense operand that moves or is produced.
TensorId subject_of(const Operation& operation);

inline const Tensor& tensor_of(const Schedule& schedule, TensorId id) {
    return schedule.tensors[static_cast<std::size_t>(id)];
}

// Block of tensor `id` on `rank`, and the bytes it takes there (dense tensors only).
Block block_of(const Schedule& schedule, TensorId id, int rank);
std::int64_t block_bytes(const Schedule& schedule, TensorId id, int rank);

// The one axis over which a tensor that is to be reduce-scattered is partial.
Axis partial_axis(const Tensor& tensor);

// Checks everything an executor relies on: ids in range, shapes, layouts and types that fit each operation, every
// transient written before it is read, unique names. Throws Error{data} naming the step or tensor.
void validate(const Schedule& schedule);

}  // namespace gnnplan
