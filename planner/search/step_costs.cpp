#include "planner/search/step_costs.hpp"

#include <gnnplan/ir/pieces.hpp>

namespace gnnplan::search {
StepCosts::StepCosts(const Schedule& sample, const GraphStats& graph, const Machine& machine)
    : graph_(graph), machine_(machine), ranks_(cost::ranks_to_cost(sample, graph, machine)) {}

double StepCosts::seconds(const Schedule& schedule, const Operation& operation) {
    const auto [entry, is_new] = known_.try_emplace(signature_of(schedule, operation), 0);
    if (is_new) {
        const Step step{"", Phase::epoch, operation};
        entry->second = cost::step_seconds(schedule, step, graph_, machine_, ranks_);
    }
    return entry->second;
}

double StepCosts::seconds(const Schedule& schedule, const Operation& operation, const ExchangeOptions& switches) {
    const SpmmStep* spmm = product_of(operation);
    if (spmm == nullptr) return seconds(schedule, operation);
    SpmmStep switched = *spmm;
    const Tensor& matrix = tensor_of(schedule, spmm->matrix);
    const bool rows = gathers_rows(schedule.grid);
    switched.exchange = rows ? switches.exchange : Exchange::none;
    switched.overlap = switches.overlap && (rows || gathers_matrix(schedule.grid, matrix));
    switched.bf16 = switches.bf16 && packs_panels(switched.exchange, switched.overlap);
    const Operation operation_switched = switched;
    const auto [entry, is_new] = known_.try_emplace(signature_of(schedule, operation_switched), 0);
    if (is_new) {
        Schedule as_lowered = schedule;
        Tensor& split = as_lowered.tensors[static_cast<std::size_t>(switched.matrix)];
        split.storage.splits = switched.overlap ? splits_for_overlap(schedule.grid, split) : 1;
        const Step step{"", Phase::epoch, operation_switched};
        entry->second = cost::step_seconds(as_lowered, step, graph_, machine_, ranks_);
    }
    return entry->second;
}

}  // namespace gnnplan::search
