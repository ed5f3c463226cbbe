// Time of one step on a machine: alpha-beta communication and compute at measured rates. Counts nothing itself.
#pragma once

#include "planner/cost/ranks.hpp"

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/schedule.hpp>
#include <gnnplan/ir/work.hpp>

namespace gnnplan::cost {

// Seconds of the step: the fixed overhead plus the maximum over the ranks of computation and communication, corrected
// by what epochs have shown (correction.hpp). A rank's communication at each link level is messages * alpha + max(sent,
// received) * beta; ranks r and s are on one node when r / ranks_per_node == s / ranks_per_node. A link measured in
// segments is costed at the average size of the messages, and what is done to bytes that are moved or summed is then
// part of it. Needed rows are read and written once where they are packed. An overlapped product of k pieces takes the
// longer of the two, the computation slowed down as calibrated, for each piece after the first, and the fill of the
// pipeline (MG-GCN section V-B). Where it was calibrated how long ranks wait for each other, they do besides.
double step_seconds(const Schedule& schedule, const Step& step, const GraphStats& graph, const Machine& machine,
                    const CostedRanks& on);

}  // namespace gnnplan::cost
