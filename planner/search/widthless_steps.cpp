#include "planner/search/widthless_steps.hpp"

#include <utility>

namespace gnnplan::search {

std::vector<WidthlessSteps::Counted> WidthlessSteps::add(Schedule schedule,
                                                         const std::function<double(const Step&)>& weight,
                                                         std::optional<int> layer) {
    const auto shared = std::make_shared<Schedule>(std::move(schedule));
    std::vector<Counted> found;
    for (const Step& step : shared->steps) {
        const double counts = weight(step);
        if (counts == 0 || step.origin.layer != layer.value_or(step.origin.layer)) continue;
        const auto [entry, is_new] = ids_.try_emplace(signature_of(*shared, step.operation), steps_.size());
        found.push_back({entry->second, counts});
        if (!is_new) continue;
        Known known{shared, step.operation, {}, {}};
        const Operands operands = operands_of(step.operation);
        for (const auto* ids : {&operands.reads, &operands.writes}) {
            for (const TensorId id : *ids) {
                known.operands.push_back(tensor_of(*shared, id));
                known.ids.push_back(id);
            }
        }
        steps_.push_back(std::move(known));
    }
    return found;
}

void WidthlessSteps::put_on(const Grid& grid, const Numbering& numbering) {
    for (const Known& known : steps_) {
        known.schedule->grid = grid;
        known.schedule->numbering = numbering;
    }
}

std::vector<double> WidthlessSteps::seconds(StepId step, const std::vector<std::int64_t>& widths, StepCosts& costs,
                                            const std::vector<Switches>& switches) const {
    const Known& known = steps_[step];
    const auto meant = [&](std::int64_t extent) {
        return extent < stand_in(0) ? extent : widths[static_cast<std::size_t>(extent - stand_in(0))];
    };
    for (std::size_t i = 0; i < known.ids.size(); ++i) {
        Tensor& tensor = known.schedule->tensors[static_cast<std::size_t>(known.ids[i])];
        tensor.rows = meant(known.operands[i].rows);
        tensor.columns = meant(known.operands[i].columns);
    }
    if (product_of(known.operation) == nullptr) {
        return std::vector<double>(switches.size(), costs.seconds(*known.schedule, known.operation));
    }
    std::vector<double> seconds;
    seconds.reserve(switches.size());
    for (const Switches& each : switches) seconds.push_back(costs.seconds(*known.schedule, known.operation, each));
    return seconds;
}

}  // namespace gnnplan::search
