#include "planner/io/older_schedule.hpp"

#include <algorithm>
#include <tuple>
#include <variant>

namespace gnnplan::io {
namespace {

// All vertices, which features have rows of, and where rows are pruned those of each layer's result.
std::vector<Space> spaces_of(const Schedule& schedule) {
    Space vertices{"vertices", 0, 0};
    for (const Tensor& tensor : schedule.tensors) {
        if (tensor.role == Role::features) vertices.rows = tensor.rows;
    }
    std::vector<Space> spaces{vertices};
    for (int l = 1; l <= schedule.numbering.loss_layers; ++l) {
        const std::string number = std::to_string(l);
        spaces.push_back({"needed." + number, vertices.rows, l});
        for (const Tensor& tensor : schedule.tensors) {
            if (tensor.name.starts_with("Z" + number + ".")) spaces.back().rows = tensor.rows;
        }
    }
    return spaces;
}

std::optional<int> space_of_size(const Schedule& schedule, std::int64_t rows) {
    const auto& spaces = schedule.spaces;
    const auto found = std::find_if(spaces.begin(), spaces.end(), [&](const Space& s) { return s.rows == rows; });
    return found == spaces.end() ? std::nullopt : std::optional(static_cast<int>(found - spaces.begin()));
}

void add_spaces(Schedule& schedule) {
    schedule.spaces = spaces_of(schedule);
    for (Tensor& tensor : schedule.tensors) {
        if (is_model_state(tensor.role) || tensor.layout == layout_partial()) continue;
        tensor.space = space_of_size(schedule, tensor.rows);
        if (tensor.role == Role::adjacency) tensor.column_space = space_of_size(schedule, tensor.columns);
    }
}

// In the order of the model: layer by layer, weights before biases.
void add_parameters(Schedule& schedule, const std::vector<int>& layers) {
    std::vector<std::size_t> found;
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        const Role role = schedule.tensors[id].role;
        if (role == Role::weight || role == Role::bias) found.push_back(id);
    }
    const auto place = [&](std::size_t id) { return std::tuple(layers[id], schedule.tensors[id].role == Role::bias); };
    std::stable_sort(found.begin(), found.end(), [&](auto a, auto b) { return place(a) < place(b); });
    for (const std::size_t id : found) {
        Tensor& tensor = schedule.tensors[id];
        const std::string layer = "layers." + std::to_string(layers[id]);
        tensor.parameter = static_cast<int>(schedule.parameters.size());
        if (tensor.role == Role::weight) {
            schedule.parameters.push_back(
                {layer + ".weight", tensor.name, {tensor.rows, tensor.columns}, Init::glorot, layers[id] == 1});
        } else {
            schedule.parameters.push_back({layer + ".bias", tensor.name, {tensor.columns}, Init::zeros, false});
        }
    }
}

}  // namespace

void complete_older(Schedule& schedule, const std::vector<int>& layers) {
    add_spaces(schedule);
    add_parameters(schedule, layers);
    for (Step& step : schedule.steps) {
        auto* update = std::get_if<UpdateStep>(&step.operation);
        if (update == nullptr) continue;
        const std::optional<int> parameter = tensor_of(schedule, update->weight).parameter;
        update->decays = parameter && schedule.parameters[static_cast<std::size_t>(*parameter)].decays;
    }
}

}  // namespace gnnplan::io
