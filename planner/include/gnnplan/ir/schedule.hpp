// A schedule: a table of tensors and the list of steps over them. The cost model folds over it, the executor runs it,
// the plan file carries it. Nothing predicts what nothing runs.
#pragma once

#include <gnnplan/base/dtype.hpp>
#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/layout.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gnnplan {

using TensorId = std::int32_t;

enum class Role : std::uint8_t {
    adjacency,  // sparse N x N; resident
    features,   // H^0, filled at load; resident
    labels,     // i32 per vertex; resident
    subset,     // u8 per vertex: 0 train, 1 valid, 2 test, 255 none; resident
    weight,     // W^l; resident
    bias,       // b^l; resident
    moment,     // Adam's first and second moments; resident
    transient,  // lives from its first to its last use within a phase
};

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
};

// out = M in. `matrix` has its rows over x; `in` and `out` are in C. With Exchange::panels the row panels of `in` are
// broadcast inside each x-group, one after the other, and multiplied as they come.
struct SpmmStep {
    TensorId matrix, in, out;
    Exchange exchange;
};

// out = in * W, or in * W^T (transposed): rows stay where they are, W is replicated.
struct GemmStep {
    TensorId in, weight, out;
    bool transposed;
};

// The same matrix in another layout: every rank sends the intersections of its block with the blocks others need.
struct RedistributeStep {
    TensorId in, out;
};

// gradient = left^T * right over the local rows: a partial sum on every rank.
struct WeightGradStep {
    TensorId left, right, gradient;
};

// Sums a partial tensor over all ranks, in place: afterwards every rank holds the sum.
struct AllReduceStep {
    TensorId tensor;
};

enum class MapOp : std::uint8_t {
    activate,       // in place: tensor = dropout(relu(tensor + operand)); operand, the bias, is optional
    dropout,        // out = dropout(tensor); where no element is dropped, out is the tensor itself
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
};

// Softmax cross-entropy over the training vertices: turns logits into their gradient in place; `loss` (1 x 1, f64,
// partial) gets the local sum.
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

using Operation = std::variant<SpmmStep, GemmStep, RedistributeStep, WeightGradStep, AllReduceStep, MapStep, LossStep,
                               ScoreStep, UpdateStep>;

// Setup runs once before the first epoch; the epoch is one steady-state training epoch; evaluation runs when asked.
enum class Phase : std::uint8_t { setup, epoch, evaluation };

struct Step {
    std::string name;  // unique within the schedule, e.g. "forward.1.spmm"
    Phase phase = Phase::epoch;
    Operation operation;
};

struct Schedule {
    Grid grid;
    std::vector<Tensor> tensors;
    std::vector<Step> steps;  // in execution order within each phase
};

// "spmm", "gemm", "redistribute", "weight_grad", "all_reduce", "map", "loss", "score" or "update".
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
// Blocks of tensor `id` on every rank.
std::vector<Block> blocks_of(const Schedule& schedule, TensorId id);

// Checks everything an executor relies on: ids in range, shapes, layouts and types that fit each operation, every
// transient written before it is read, unique names. Throws Error{data} naming the step or tensor.
void validate(const Schedule& schedule);

}  // namespace gnnplan
