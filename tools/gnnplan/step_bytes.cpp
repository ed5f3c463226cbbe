#include "tools/gnnplan/step_bytes.hpp"

#include <gnnplan/ir/traffic.hpp>

namespace gnnplan::tools {
namespace {

void append(std::string& key, std::int64_t value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); }

// What the bytes of a step depend on: grid, kind, exchange, and the shapes and layouts of its tensors.
std::string key_of(const Schedule& schedule, const Operation& operation) {
    std::string key;
    append(key, static_cast<std::int64_t>(operation.index()));
    for (const int extent : {schedule.grid.x, schedule.grid.y, schedule.grid.z}) append(key, extent);
    const auto* spmm = std::get_if<SpmmStep>(&operation);
    append(key, spmm != nullptr ? static_cast<std::int64_t>(spmm->exchange) : 0);
    const Operands operands = operands_of(operation);
    for (const auto* ids : {&operands.reads, &operands.writes}) {
        for (const TensorId id : *ids) {
            const Tensor& tensor = tensor_of(schedule, id);
            append(key, tensor.rows), append(key, tensor.columns);
            append(key, static_cast<std::int64_t>(tensor.dtype) * 2 + (tensor.transposed ? 1 : 0));
            for (const Axes& axes : {tensor.layout.rows, tensor.layout.columns, tensor.layout.partial}) {
                key += axes.text() + ";";
            }
        }
    }
    return key;
}

}  // namespace

std::int64_t StepBytes::of_epoch(const Schedule& schedule, const GraphStats& graph) {
    std::int64_t bytes = 0;
    for (const Step& step : schedule.steps) {
        if (step.phase != Phase::epoch) continue;
        const auto [known, is_new] = known_.try_emplace(key_of(schedule, step.operation), 0);
        if (is_new) {
            Schedule alone = schedule;
            alone.steps = {step};
            known->second = total_traffic(alone, Phase::epoch, graph).total_bytes;
        }
        bytes += known->second;
    }
    return bytes;
}

}  // namespace gnnplan::tools
