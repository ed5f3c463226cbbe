// The fold over a schedule: what an epoch costs.
#pragma once

#include "planner/cost/ranks.hpp"

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan::cost {

// Time of every step, time and bytes of a steady-state epoch, peak memory. `graph` answers in the schedule's numbering.
Prediction predict(const Schedule& schedule, const GraphStats& graph, const Machine& machine);
// The same when peak_bytes_per_rank is known already.
Prediction predict(const Schedule& schedule, const GraphStats& graph, const Machine& machine, std::int64_t peak_bytes);
// The same when the time of every step is known, too.
Prediction predict(const Schedule& schedule, const GraphStats& graph, std::vector<double> step_seconds,
                   std::int64_t peak_bytes);

// Adds to the prediction of training an epoch's share of what setup makes for so many of them.
void add_kept(const Schedule& schedule, std::int64_t epochs, Prediction& prediction);

// Seconds of dropping weights of attention in an epoch's step; 0 if the machine was not measured at it.
double attention_dropout_seconds(const Schedule& schedule, const Step& step, const GraphStats& graph,
                                 const Machine& machine, const CostedRanks& on);
// Adds that to the prediction of an epoch.
void add_attention_dropout(const Schedule& schedule, const GraphStats& graph, const Machine& machine,
                           Prediction& prediction);

}  // namespace gnnplan::cost
