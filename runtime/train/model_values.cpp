#include "runtime/train/model_values.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace gnnplan::train {
namespace {

constexpr std::string_view parameters = "layers.";

bool taken(const Tensor& tensor, bool moments) {
    return exec::is_model_state(tensor.role) && (moments || tensor.role != Role::moment);
}

// A bias is a row of the schedule and a vector of files.
std::vector<std::int64_t> shape_of(const Tensor& tensor) {
    const std::string name = name_in_files(tensor);
    if (name.find(".bias") != std::string::npos) return {tensor.columns};
    return {tensor.rows, tensor.columns};
}

std::string text_of(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const std::int64_t extent : shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
    return text;
}

const NamedTensor* find(const std::vector<NamedTensor>& values, const std::string& name) {
    const auto found = std::find_if(values.begin(), values.end(), [&](const NamedTensor& v) { return v.name == name; });
    return found == values.end() ? nullptr : &*found;
}

}  // namespace

std::string name_in_files(const Tensor& tensor) {
    std::string parameter =
        "layers." + std::to_string(tensor.layer) + (tensor.name.starts_with('b') ? ".bias" : ".weight");
    if (tensor.role != Role::moment) return parameter;
    return "adam." + parameter + (tensor.name.ends_with(".m1") ? ".exp_avg" : ".exp_avg_sq");
}

std::vector<NamedTensor> values_of(const exec::ModelState& state, bool moments) {
    std::vector<NamedTensor> values;
    for (const Tensor& tensor : state.tensors()) {
        if (!taken(tensor, moments)) continue;
        const std::span<float> held = state.values(tensor);
        values.push_back({name_in_files(tensor), shape_of(tensor), {held.begin(), held.end()}});
    }
    return values;
}

void check_values(const std::vector<NamedTensor>& values, const Schedule& schedule, bool moments,
                  const std::string& where) {
    std::size_t known = 0;
    for (const Tensor& tensor : schedule.tensors) {
        if (!taken(tensor, moments)) continue;
        const std::string name = name_in_files(tensor);
        const NamedTensor* value = find(values, name);
        if (value == nullptr) {
            throw Error(ErrorCode::mismatch, "the plan's model has " + name + ", which is not in it", where,
                        "was it trained by a plan of the same model?");
        }
        if (value->shape != shape_of(tensor)) {
            throw Error(
                ErrorCode::mismatch,
                name + " is " + text_of(value->shape) + ", that of the plan's model " + text_of(shape_of(tensor)),
                where);
        }
        known += tensor.role == Role::moment ? 0U : 1U;
    }
    for (const NamedTensor& value : values) {
        if (!value.name.starts_with(parameters)) continue;
        if (known-- == 0) {
            throw Error(ErrorCode::mismatch, "it has more layers or biases than the plan's model", where,
                        "was it trained by a plan of the same model?");
        }
    }
}

void set_values(exec::ModelState& state, const std::vector<NamedTensor>& values, bool moments) {
    for (const Tensor& tensor : state.tensors()) {
        if (!taken(tensor, moments)) continue;
        const NamedTensor* value = find(values, name_in_files(tensor));
        ensure(value != nullptr, "values were checked");
        std::copy(value->values.begin(), value->values.end(), state.values(tensor).begin());
    }
}

bool holds_best(const std::vector<NamedTensor>& values) {
    return std::any_of(values.begin(), values.end(),
                       [](const NamedTensor& value) { return value.name.starts_with(best_prefix); });
}

bool all_finite(const std::vector<NamedTensor>& values) {
    return std::all_of(values.begin(), values.end(), [](const NamedTensor& tensor) {
        return std::all_of(tensor.values.begin(), tensor.values.end(), [](float v) { return std::isfinite(v); });
    });
}

}  // namespace gnnplan::train
