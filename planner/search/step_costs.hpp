// Time of steps on one grid, each kind and shape computed once.
#pragma once

#include "planner/cost/time.hpp"

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <string>
#include <unordered_map>
#include <vector>

namespace gnnplan::search {

// How panels travel: choices that only products feel, so that one lowering serves all.
struct ExchangeOptions {
    Exchange exchange = Exchange::none;
    bool overlap = false;
    bool bf16 = false;  // where panels are packed
};

class StepCosts {
public:
    // Of schedules on the grid of `sample` that have tensors of the same row counts and widths; `graph` answers in
    // their numbering. Everything outlives the object.
    StepCosts(const Schedule& sample, const GraphStats& graph, const Machine& machine);

    double seconds(const Schedule& schedule, const Operation& operation);
    // The step under other switches: the same unless it is a product that exchanges something.
    double seconds(const Schedule& schedule, const Operation& operation, const ExchangeOptions& switches);

private:
    const GraphStats& graph_;
    const Machine& machine_;
    cost::CostedRanks ranks_;
    std::unordered_map<std::string, double> known_;
};

}  // namespace gnnplan::search
