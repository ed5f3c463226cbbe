// A schedule: a table of tensors and the list of steps over them. The cost model folds over it, the executor runs it,
// the plan file carries it. Nothing predicts what nothing runs.
#pragma once

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/op_graph.hpp>
#include <gnnplan/ir/operation.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan {

// Setup runs once before the first epoch; the epoch is one steady-state training epoch, or the pass of an inference;
// evaluation runs when asked.
enum class Phase : std::uint8_t { setup, epoch, evaluation };

// A step belongs to one part of an epoch.
enum class Pass : std::uint8_t {
    forward,
    keep,      // made just for the backward pass: masks, and operands of weight gradients in another layout
    backward,  // the loss's gradient on, sums of gradients over ranks included
    update,
};

// The operation of the model that a step serves.
struct Origin {
    Pass pass = Pass::forward;
    int layer = 0;  // 1 .. L; 0: not known
    OpKind op = OpKind::input;
    bool operator==(const Origin&) const = default;
};

struct Step {
    std::string name;  // unique within the schedule, e.g. "forward.1.spmm"; for people: nothing reads it
    Phase phase = Phase::epoch;
    Operation operation;
    Origin origin{};

    // Whether it is part of making something that every epoch reads.
    bool makes_kept() const { return phase == Phase::setup && !std::holds_alternative<RowRequestStep>(operation); }
};

// The meaning of tensors' rows: the first ones in the schedule's numbering, all vertices, or those that the loss needs
// of a layer's result; or the vertices of the graphs of groups, of one group after the other (Grid::groups).
struct Space {
    std::string name;  // "vertices", "needed.2", "groups"
    std::int64_t rows = 0;
    int needed_of = 0;  // N_l: the rows of layer l's result that the loss needs; 0: all vertices, or those of groups
    bool of_groups = false;

    bool operator==(const Space&) const = default;
};

// How ranks load the graph that their blocks are cut out of: each reads all of it, or each a part of the file, and then
// they give each other the edges of their rows.
enum class Loading : std::uint8_t { whole, sharded };

// How a graph is loaded for a numbering where `wanted` is asked for: the whole graph decides about parts and about who
// is needed by the loss.
inline Loading loading_for(const Numbering& numbering, Loading wanted) {
    const bool takes_graph = numbering.parts > 1 || numbering.loss_layers > 0 || numbering.batches;
    return takes_graph ? Loading::whole : wanted;
}

struct Schedule {
    Grid grid;
    Numbering numbering;  // of the vertices: rows of all tensors count in it
    std::vector<Tensor> tensors;
    std::vector<Step> steps;                 // in execution order within each phase
    std::vector<Space> spaces = {};          // all vertices first
    std::vector<Parameter> parameters = {};  // of the model, in its order
    Blocking blocking = {};                  // of the machine that it is for
    int ranks_per_node = 1;                  // of that machine: so many ranks that follow each other share a node
    Loading loading = Loading::whole;
    // Epochs since the run began, where steps differ by it (ir/shared_clones.hpp); no plan file has it.
    std::optional<std::int64_t> turn = {};
    std::optional<TensorId> output = {};  // what an inference is for: the logits of all vertices, whole rows on a rank
};

inline const Tensor& tensor_of(const Schedule& schedule, TensorId id) {
    return schedule.tensors[static_cast<std::size_t>(id)];
}

// The rows of a tensor that `rank` has, and its block of the whole tensor.
Range rows_of(const Schedule& schedule, const Tensor& tensor, int rank);
Block block_of(const Schedule& schedule, const Tensor& tensor, int rank);
Block block_of(const Schedule& schedule, TensorId id, int rank);
// Whether rows of this space are those of groups.
inline bool of_groups(const Schedule& schedule, const std::optional<int>& space) {
    return space && schedule.spaces[static_cast<std::size_t>(*space)].of_groups;
}
// Gives groups other rows: `first` is Grid::groups. The rest of the schedule stays as it is, in place.
void set_groups(Schedule& schedule, const std::vector<std::int64_t>& first);
// Bytes of a dense tensor's block.
std::int64_t block_bytes(const Schedule& schedule, TensorId id, int rank);

// Nonzeros of an adjacency on `rank`, which has all of those in its rows: what a tensor of edges has values for.
// `graph` answers in the schedule's numbering.
std::int64_t edges_of(const Schedule& schedule, TensorId adjacency, const GraphStats& graph, int rank);
// How many of some rows of an adjacency hold a nonzero that `rank` has of a cut.
std::int64_t targets_in(const Schedule& schedule, TensorId adjacency, const GraphStats& graph, int rank, Range rows);
// How many rows the blocks of an adjacency have on `rank`: all of its layout or, of a cut, those that hold a nonzero.
std::int64_t stored_rows(const Schedule& schedule, TensorId adjacency, const GraphStats& graph, int rank);
// The rows of all adjacencies of a rank, from the first to the last.
Range adjacency_rows(const Schedule& schedule, int rank);

// Elements of any tensor but an adjacency on `rank`.
std::int64_t elements_of(const Schedule& schedule, TensorId id, const GraphStats& graph, int rank);

// The one axis over which a tensor that is to be reduce-scattered is partial.
Axis partial_axis(const Tensor& tensor);

// Checks everything an executor relies on: ids in range, shapes, layouts and types that fit each operation, every
// transient written before it is read, unique names. Throws Error{data} naming the step or tensor.
void validate(const Schedule& schedule);

}  // namespace gnnplan
