// Time of steps on one grid, each kind and shape computed once.
#pragma once

#include "planner/cost/ranks.hpp"

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace gnnplan::search {

class StepCosts {
public:
    // Costs steps of schedules on the grid of `sample` whose tensors have the same row counts and widths; `graph`
    // answers in the schedules' numbering. All arguments outlive the object.
    // The graph is counted once on this grid and machine, as `counts` keeps the results.
    StepCosts(const Schedule& sample, const GraphStats& graph, const Machine& machine,
              std::shared_ptr<cost::RankCounts> counts = std::make_shared<cost::RankCounts>());

    double seconds(const Schedule& schedule, const Operation& operation);
    // The step under other switches, as far as products alone feel them: the same unless it is a product that exchanges
    // something. Bfloat16 is asked for where the product packs panels.
    double seconds(const Schedule& schedule, const Operation& operation, const Switches& switches);
    // Each step of a schedule as it was lowered.
    std::vector<double> seconds(const Schedule& schedule);

private:
    friend class SharedCosts;
    StepCosts(const Grid& grid, cost::RanksOfSteps ranks, const GraphStats& graph, const Machine& machine);

    Grid grid_;
    const GraphStats& graph_;
    const Machine& machine_;
    cost::RanksOfSteps ranks_;
    std::unordered_map<std::string, double> known_;
};

// The costs of whole schedules: those whose steps are costed on the same ranks share what is known. The machine and the
// graphs outlive the object.
class SharedCosts {
public:
    explicit SharedCosts(const Machine& machine) : machine_(machine) {}

    // `graph` answers in the schedule's numbering.
    StepCosts& of(const Schedule& schedule, const GraphStats& graph);
    const Machine& machine() const { return machine_; }

private:
    const Machine& machine_;
    std::deque<StepCosts> costs_;  // addresses stay
};

}  // namespace gnnplan::search
