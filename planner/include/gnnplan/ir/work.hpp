// The work of a step on each rank, counted: operations, bytes touched. Cost models read these counts.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/packed_panel.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>

namespace gnnplan {

struct RankWork {
    double sparse_flops = 0;        // 2 * nonzeros * width
    std::int64_t sparse_width = 0;  // columns of the local slices of all operands that a nonzero meets

    double dense_flops = 0;  // of a matrix product: 2 * local rows * inner * columns
    GemmKind product = GemmKind::forward;
    std::int64_t inner = 0;  // of the local part of W, or of its gradient: inner x columns
    std::int64_t columns = 0;

    // Only the loss has these.
    double loss_rows = 0;      // local rows, of `columns` logits each
    double training_rows = 0;  // those that train; the others are cleared

    std::int64_t streamed_bytes = 0;  // read and written by elementwise work, each byte of each operand once
    ElementwiseKind stream = ElementwiseKind::copy;  // what is done to them
    bool in_cache = false;                           // whether a product has just made them, where backends do that
    std::int64_t staged_bytes = 0;    // written and read once more where messages are packed and unpacked; not those of
                                      // needed rows, which are what is sent (ir/traffic.hpp)
    std::int64_t narrowed_bytes = 0;  // read and written where floats become bfloat16 to be sent,
    std::int64_t widened_bytes = 0;   // and where these become floats, or are added to some
};

// Read and written where so many bytes of bfloat16 are made of floats, or floats of them.
constexpr std::int64_t rounded_bytes(std::int64_t bytes) { return 3 * bytes; }

// The same where they are added to floats.
constexpr std::int64_t added_bytes(std::int64_t bytes) { return 5 * bytes; }

// `graph` answers in the schedule's numbering.
RankWork work_of(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank);

// How a rank's SpMM comes back to the rows of its dense operand. Counted over all columns of its rows, cut into panels
// of the size of its own, whatever part of the columns the rank has: parts are taken to be alike.
struct SpmmReuse {
    ReuseHistogram histogram;
    double share = 1;                // of the histogram's nonzeros, the rank's
    double pieces = 1;               // into which the histogram's columns are cut; panels lie within pieces
    double rows = 0;                 // of the rank's result
    std::int64_t columns = 0;        // of all its pieces; 0 where it has no rows
    PackedPanel packed;              // panels as they are copied, if they are
    std::int64_t packing_bytes = 0;  // of the dense operand that are read and written to copy them
};
// `nonzeros`: those that the rank multiplies.
SpmmReuse reuse_of(const Schedule& schedule, const SpmmStep& step, const GraphStats& graph, int rank,
                   std::int64_t nonzeros);
// The same in two parts: what all products with a matrix have in common, which takes the time, and how panels are
// copied for one of them.
SpmmReuse reuse_of_matrix(const Schedule& schedule, TensorId matrix, const GraphStats& graph, int rank,
                          std::int64_t nonzeros);
void pack_for(const Schedule& schedule, const SpmmStep& step, int rank, SpmmReuse& reuse);

// Sparse operations of the busiest rank in an epoch over their mean over the ranks; 1 when there are none.
double sparse_imbalance(const Schedule& schedule, const GraphStats& graph);

}  // namespace gnnplan
