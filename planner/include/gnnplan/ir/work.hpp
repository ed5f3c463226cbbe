// What a step does on each rank, counted: operations, bytes touched. The fold that costs read.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>

namespace gnnplan {

struct RankWork {
    double sparse_flops = 0;          // 2 * nonzeros * width
    std::int64_t sparse_width = 0;    // columns of the local slice
    double dense_flops = 0;           // of matrix products
    std::int64_t streamed_bytes = 0;  // elementwise work, packing, optimiser: bytes read and written; not the packing
                                      // of needed rows, which is what is sent (ir/traffic.hpp)
};

// `graph` answers in the schedule's numbering.
RankWork work_of(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank);

// Sparse operations of the busiest rank in an epoch over their mean over the ranks; 1 when there are none.
double sparse_imbalance(const Schedule& schedule, const GraphStats& graph);

}  // namespace gnnplan
