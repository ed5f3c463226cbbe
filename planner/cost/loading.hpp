// Time of loading a graph, before the steps of a schedule.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/loading.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/plan.hpp>
#include <gnnplan/ir/schedule.hpp>

namespace gnnplan::cost {

// Seconds of each part of loading on the rank that takes longest in it, as the schedule says: in shares, or whole on
// every rank. `record` says how the graph is prepared; `graph` answers in the schedule's numbering.
LoadingSeconds loading_seconds(const Schedule& schedule, const GraphStats& graph, const GraphRecord& record,
                               const Listing& listing, const Machine& machine);

}  // namespace gnnplan::cost
