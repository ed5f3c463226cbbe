// The bytes that a step cannot do without: what it reads and writes, each byte once, and how far away what it reads is.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan::bench {

struct Access {
    TensorId tensor = 0;
    std::int64_t bytes = 0;
    // The bytes that the rank's epoch touches from the beginning of an operand's last use on, this one included: a
    // cache of that size may still have it. 0 of what is written.
    std::int64_t distance = 0;
};

struct StepAccesses {
    std::vector<Access> reads;
    std::vector<Access> writes;
};

// The accesses of `rank`, for each step of the schedule. Steps of other phases than the epoch have none, and so have
// steps that do nothing: sums over one rank, and the dropout of features unless `drops_features`. Products read the
// rows of their dense operands that their nonzeros meet, in the columns that the rank multiplies. A redistribution
// reads what it writes, on whatever rank that was. The loss reads the logits of the rows that train. `graph` answers
// in the schedule's numbering.
std::vector<StepAccesses> accesses_of(const Schedule& schedule, const GraphStats& graph, int rank, bool drops_features);

}  // namespace gnnplan::bench
