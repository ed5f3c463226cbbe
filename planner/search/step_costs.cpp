#include "planner/search/step_costs.hpp"

#include <gnnplan/ir/pieces.hpp>

namespace gnnplan::search {
namespace {

// What a step's time depends on: its kind, its switches, and the shapes and layouts of its tensors.
class Key {
public:
    Key(const Schedule& schedule, const Operation& operation) {
        add(static_cast<std::int64_t>(operation.index()));
        const Operands operands = operands_of(operation);
        for (const auto* ids : {&operands.reads, &operands.writes}) {
            for (const TensorId id : *ids) add(tensor_of(schedule, id));
        }
        if (const auto* spmm = std::get_if<SpmmStep>(&operation)) {
            add(static_cast<std::int64_t>(spmm->exchange) * 4 + (spmm->overlap ? 2 : 0) + (spmm->bf16 ? 1 : 0));
        }
        if (const auto* gemm = std::get_if<GemmStep>(&operation)) add(gemm->transposed ? 1 : 0);
        if (const auto* map = std::get_if<MapStep>(&operation)) add(static_cast<std::int64_t>(map->op));
    }
    std::string take() { return std::move(text_); }

private:
    void add(std::int64_t value) { text_.append(reinterpret_cast<const char*>(&value), sizeof(value)); }
    void add(const Axes& axes) {
        std::int64_t code = axes.size();
        for (const Axis axis : axes) code = 4 * code + static_cast<std::int64_t>(axis);
        add(code);
    }
    void add(const Tensor& tensor) {
        add(tensor.rows), add(tensor.columns);
        add(static_cast<std::int64_t>(tensor.dtype) * 2 + (tensor.transposed ? 1 : 0));
        add(tensor.layout.rows), add(tensor.layout.columns), add(tensor.layout.partial);
        if (tensor.role == Role::adjacency) add(tensor.panel_columns * 2 + (tensor.factored ? 1 : 0));
    }

    std::string text_;
};

}  // namespace

StepCosts::StepCosts(const Schedule& sample, const GraphStats& graph, const Machine& machine)
    : graph_(graph), machine_(machine), ranks_(cost::ranks_to_cost(sample, graph, machine)) {}

double StepCosts::seconds(const Schedule& schedule, const Operation& operation) {
    const auto [entry, is_new] = known_.try_emplace(Key(schedule, operation).take(), 0);
    if (is_new) {
        const Step step{"", Phase::epoch, operation};
        entry->second = cost::step_seconds(schedule, step, graph_, machine_, ranks_);
    }
    return entry->second;
}

double StepCosts::seconds(const Schedule& schedule, const Operation& operation, const Switches& switches) {
    const auto* spmm = std::get_if<SpmmStep>(&operation);
    if (spmm == nullptr) return seconds(schedule, operation);
    SpmmStep switched = *spmm;
    const Tensor& matrix = tensor_of(schedule, spmm->matrix);
    const bool rows = gathers_rows(schedule.grid);
    switched.exchange = rows ? switches.exchange : Exchange::none;
    switched.overlap = switches.overlap && (rows || gathers_matrix(schedule.grid, matrix));
    switched.bf16 = switches.bf16 && packs_panels(switched.exchange, switched.overlap);
    const Operation operation_switched = switched;
    const auto [entry, is_new] = known_.try_emplace(Key(schedule, operation_switched).take(), 0);
    if (is_new) {
        Schedule as_lowered = schedule;
        Tensor& split = as_lowered.tensors[static_cast<std::size_t>(switched.matrix)];
        split.splits = switched.overlap ? splits_for_overlap(schedule.grid, split) : 1;
        const Step step{"", Phase::epoch, operation_switched};
        entry->second = cost::step_seconds(as_lowered, step, graph_, machine_, ranks_);
    }
    return entry->second;
}

}  // namespace gnnplan::search
