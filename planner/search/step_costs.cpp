#include "planner/search/step_costs.hpp"

#include "planner/cost/time.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <utility>

namespace gnnplan::search {
namespace {

// Whether there are values of its nonzeros, which come and go in whole blocks.
bool has_edges(const Schedule& schedule, TensorId matrix) {
    return std::any_of(schedule.tensors.begin(), schedule.tensors.end(),
                       [&](const Tensor& tensor) { return tensor.role == Role::edges && tensor.structure == matrix; });
}

}  // namespace

StepCosts::StepCosts(const Grid& grid, cost::RanksOfSteps ranks, const GraphStats& graph, const Machine& machine)
    : grid_(grid), graph_(graph), machine_(machine), ranks_(std::move(ranks)) {}

StepCosts::StepCosts(const Schedule& sample, const GraphStats& graph, const Machine& machine,
                     std::shared_ptr<cost::RankCounts> counts)
    : StepCosts(sample.grid, {cost::ranks_to_cost(sample, graph, machine), machine, std::move(counts)}, graph,
                machine) {}

double StepCosts::seconds(const Schedule& schedule, const Operation& operation) {
    const auto [entry, is_new] = known_.try_emplace(signature_of(schedule, operation), 0);
    if (is_new) {
        const Step step{"", Phase::epoch, operation};
        entry->second = cost::step_seconds(schedule, step, graph_, machine_, ranks_.of(schedule, step, graph_));
    }
    return entry->second;
}

double StepCosts::seconds(const Schedule& schedule, const Operation& operation, const Switches& switches) {
    const SpmmStep* spmm = product_of(operation);
    if (spmm == nullptr) return seconds(schedule, operation);
    SpmmStep switched = *spmm;
    const Tensor& matrix = tensor_of(schedule, spmm->matrix);
    // Dealt rows read the rows that they need, whatever other products do.
    if (deals_rows(matrix)) return seconds(schedule, operation);
    switched.follow(switches, schedule.grid, matrix);
    const Step step{"", Phase::epoch, switched};
    const auto [entry, is_new] = known_.try_emplace(signature_of(schedule, step.operation), 0);
    if (is_new) {
        Schedule as_lowered = schedule;
        Tensor& split = as_lowered.tensors[static_cast<std::size_t>(switched.matrix)];
        const bool whole = has_edges(schedule, switched.matrix);
        split.storage.splits = switched.overlap && !whole ? splits_for_overlap(schedule.grid, split) : 1;
        entry->second = cost::step_seconds(as_lowered, step, graph_, machine_, ranks_.of(as_lowered, step, graph_));
    }
    return entry->second;
}

std::vector<double> StepCosts::seconds(const Schedule& schedule) {
    std::vector<double> each;
    each.reserve(schedule.steps.size());
    for (const Step& step : schedule.steps) each.push_back(seconds(schedule, step.operation));
    return each;
}

StepCosts& SharedCosts::of(const Schedule& schedule, const GraphStats& graph) {
    cost::CostedRanks ranks = cost::ranks_to_cost(schedule, graph, machine_);
    const auto known = std::find_if(costs_.begin(), costs_.end(), [&](const StepCosts& costs) {
        return &costs.graph_ == &graph && costs.grid_ == schedule.grid && costs.ranks_.all() == ranks;
    });
    if (known != costs_.end()) return *known;
    costs_.push_back(StepCosts(schedule.grid, {std::move(ranks), machine_}, graph, machine_));
    return costs_.back();
}

}  // namespace gnnplan::search
