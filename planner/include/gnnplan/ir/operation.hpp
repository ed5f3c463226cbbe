// The kinds of steps, and what can be asked of any of them.
//
// A kind is a struct of its operands and switches (steps/*.hpp) that describes itself. It must have
//   kind                                  its name in plans and reports
//   fields(self, archive)                 its operands and switches, by their keys in plan files: what it reads, writes
//                                         and updates (a tensor, one or none, or a list of them) or may read (which
//                                         has no key where there is none), and values; the archive writes, reads,
//                                         compares or lists them
//   subject()                             the tensor whose shape describes the step in reports
//   check(StepCheck)                      what an executor relies on, throwing Error{data}
//   work(schedule, graph, rank)           what one rank computes (ir/work.hpp)
// and, unless it is local, which `local = true` says (no rank waits for another, nothing is staged),
//   peers(schedule, rank)                 ranks that it may send to or receive from
//   between(schedule, graph, from, to)    all messages of one pair of peers (ir/traffic.hpp)
//   staging(schedule, graph, rank)        buffers besides its tensors (ir/memory.hpp)
// The functions below have an answer for kinds that do not mention what they ask for; it is said there.
//
// To add a kind: its struct, a row in Operation, and its handler, exec::run_step.
#pragma once

#include <gnnplan/ir/model_part.hpp>
#include <gnnplan/ir/steps/all_reduce.hpp>
#include <gnnplan/ir/steps/batch_norm.hpp>
#include <gnnplan/ir/steps/edge.hpp>
#include <gnnplan/ir/steps/edge_gather.hpp>
#include <gnnplan/ir/steps/edge_transpose.hpp>
#include <gnnplan/ir/steps/gemm.hpp>
#include <gnnplan/ir/steps/head.hpp>
#include <gnnplan/ir/steps/loss.hpp>
#include <gnnplan/ir/steps/map.hpp>
#include <gnnplan/ir/steps/norm.hpp>
#include <gnnplan/ir/steps/rank_sum.hpp>
#include <gnnplan/ir/steps/redistribute.hpp>
#include <gnnplan/ir/steps/reduce_scatter.hpp>
#include <gnnplan/ir/steps/ring_gemm.hpp>
#include <gnnplan/ir/steps/row_request.hpp>
#include <gnnplan/ir/steps/score.hpp>
#include <gnnplan/ir/steps/spmm.hpp>
#include <gnnplan/ir/steps/sum_rows.hpp>
#include <gnnplan/ir/steps/sync_rows.hpp>
#include <gnnplan/ir/steps/update.hpp>
#include <gnnplan/ir/steps/weight_grad.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gnnplan {

struct Step;  // ir/schedule.hpp

using Operation =
    std::variant<SpmmStep, RowRequestStep, ReduceScatterStep, GemmStep, RingGemmStep, RedistributeStep, WeightGradStep,
                 AllReduceStep, MapStep, HeadStep, EdgeStep, EdgeTransposeStep, EdgeGatherStep, SumRowsStep,
                 SyncRowsStep, LossStep, ScoreStep, UpdateStep, NormStep, BatchNormStep, RankSumStep>;

template <class S>
concept LocalStep = S::local;

std::string_view kind_of(const Operation& operation);

// Tensors the step reads and writes, in no particular order; a tensor updated in place is in both.
struct Operands {
    std::vector<TensorId> reads;
    std::vector<TensorId> writes;
};
Operands operands_of(const Operation& operation);

// The tensor whose shape describes the step in reports: the dense operand that moves or is produced.
TensorId subject_of(const Operation& operation);

// Everything that decides what a step costs and moves: the grid, its kind and switches, and shapes, layouts and storage
// of its tensors. Steps of equal signatures, in one graph, take equal time and send equal bytes.
std::string signature_of(const Schedule& schedule, const Operation& operation);

// The ranks that exchange with each other in the step, `rank` among them; of a local step itself alone.
std::vector<int> exchange_group(const Schedule& schedule, const Operation& operation, int rank);

// The part of the time model that predicts steps of this kind and with these switches.
ModelPart part_of(const Operation& operation);

// The product over nonzeros, of whatever program, that the step is; null of any other.
const SpmmStep* product_of(const Operation& operation);

// The matrix whose needed rows the step asks other ranks for; none of most.
std::optional<TensorId> requested_rows(const Operation& operation);

// The tensor of which every rank has a summand, and which the step sums; none of most. A step that writes the sum
// elsewhere uses its summands up.
std::optional<TensorId> summed(const Operation& operation);

// The logits of which the step reads one row for each label; none of most.
std::optional<TensorId> logits_of(const Operation& operation);

// The tensor that the step writes, if without dropout it is the input itself: nothing may overwrite it then, and the
// step takes no time. Most kinds have none.
std::optional<TensorId> dropped_features(const Operation& operation);

// Whether its messages differ between ranks of equal sizes, as a ring's do; no, of most.
bool varies_with_rank(const Operation& operation);

// Whether its bytes follow from more than sizes (needed rows, nonzeros that are sent); no, of most.
bool depends_on_graph(const Schedule& schedule, const Operation& operation);

// How the messages of a step on `rank` are measured, with what is done to their bytes; plain ones, of most.
Collective collective_of(const Schedule& schedule, const Operation& operation, int rank);

// How elements travel in the step: as they are, in most.
Wire wire_of(const Operation& operation);

// Whether what the step sends may be rounded: not in setup, which is sent once, nor where the result is the user's.
bool may_narrow(const Schedule& schedule, const Step& step);
// Lets elements travel so in every step whose messages may be rounded.
void set_wire(Schedule& schedule, Wire wire);

// Whether the step moves rows out of a group of ranks along y, so that what a rank exchanges depends on where its
// blocks lie; no, of most.
bool moves_across_groups(const Schedule& schedule, const Operation& operation);

// Whether its messages travel while later steps and epochs run; no, of most.
bool in_background(const Operation& operation);

// The matrix that the step brings into another layout: the messages, and the part that a rank has already; none of
// most.
std::optional<TensorId> redistributed(const Operation& operation);

// The matrices that the step moves between columns and whole rows while it multiplies, tile by tile: one tile is
// multiplied while the next one is on its way. As many tiles as ring_tiles() says. None, of most.
std::vector<TensorId> tiled(const Operation& operation);

// The matrices between which the step moves values of edges, to each of which a rank knows its place by an order that
// it keeps; none of most.
std::optional<std::pair<TensorId, TensorId>> reordered_edges(const Schedule& schedule, const Operation& operation);

}  // namespace gnnplan
