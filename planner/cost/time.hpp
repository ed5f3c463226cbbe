// Time of one step on a machine: alpha-beta communication and compute at measured rates. Counts nothing itself.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/schedule.hpp>
#include <gnnplan/ir/work.hpp>

namespace gnnplan::cost {

// Seconds of local work at the machine's rates.
double compute_seconds(const RankWork& work, const Machine& machine);

// Seconds of the step: the fixed overhead plus the maximum over ranks of computation and communication. A rank's
// communication at each link level is messages * alpha + max(sent, received) * beta; ranks r and s are on one node when
// r / ranks_per_node == s / ranks_per_node.
double step_seconds(const Schedule& schedule, const Step& step, const GraphStats& graph, const Machine& machine);

}  // namespace gnnplan::cost
