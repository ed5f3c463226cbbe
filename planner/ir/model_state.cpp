#include <gnnplan/ir/model_state.hpp>

#include <algorithm>
#include <variant>

namespace gnnplan {

std::vector<StateTensor> state_tensors(const Schedule& schedule) {
    std::vector<StateTensor> found;
    const auto add = [&](TensorId tensor, int id, const std::string& before, const std::string& after, bool moment) {
        const Parameter& parameter = schedule.parameters[static_cast<std::size_t>(id)];
        found.push_back({tensor, before + parameter.name + after, parameter.shape, moment});
    };
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        if (schedule.tensors[id].parameter)
            add(static_cast<TensorId>(id), *schedule.tensors[id].parameter, "", "", false);
    }
    for (const Step& step : schedule.steps) {
        const auto* update = std::get_if<UpdateStep>(&step.operation);
        if (update == nullptr) continue;
        const std::optional<int> parameter = tensor_of(schedule, update->weight).parameter;
        if (!parameter) continue;
        const OptimiserRule& rule = rule_of(update->rule);
        const auto add_moment = [&](const std::optional<TensorId>& moment, std::string_view name) {
            if (moment) add(*moment, *parameter, std::string(rule.files) + ".", "." + std::string(name), true);
        };
        add_moment(update->moment1, rule.state[0]);
        add_moment(update->moment2, rule.state[1]);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const StateTensor& a, const StateTensor& b) { return a.tensor < b.tensor; });
    return found;
}

}  // namespace gnnplan
