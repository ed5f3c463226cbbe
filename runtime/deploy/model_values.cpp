#include "runtime/deploy/model_values.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace gnnplan::deploy {
namespace {

constexpr std::string_view parameters = "layers.";

bool taken(const StateTensor& tensor, bool moments) { return moments || !tensor.moment; }

std::string text_of(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const std::int64_t extent : shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
    return text;
}

constexpr const char* transposed_hint = "is it transposed? Layers are [in, out] here, PyTorch's [out, in]: save W.T";

bool is_transposed(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& wanted) {
    return shape.size() == 2 && std::ranges::equal(shape.rbegin(), shape.rend(), wanted.begin(), wanted.end());
}

// Values by their names.
class ByName {
public:
    explicit ByName(const std::vector<NamedTensor>& values) {
        for (const NamedTensor& value : values) values_.emplace(value.name, &value);
    }
    const NamedTensor* find(const std::string& name) const {
        const auto found = values_.find(name);
        return found == values_.end() ? nullptr : found->second;
    }

private:
    std::map<std::string_view, const NamedTensor*> values_;
};

}  // namespace

std::vector<NamedTensor> values_of(const exec::ModelState& state, bool moments) {
    std::vector<NamedTensor> values;
    for (const StateTensor& tensor : state.tensors()) {
        if (!taken(tensor, moments)) continue;
        values.push_back({tensor.name, tensor.shape, state.values(tensor)});
    }
    return values;
}

void check_values(const std::vector<NamedTensor>& values, const Schedule& schedule, bool moments,
                  const std::string& where) {
    const ByName by_name(values);
    std::set<std::string> known;
    for (const StateTensor& tensor : state_tensors(schedule)) {
        if (!taken(tensor, moments)) continue;
        const NamedTensor* value = by_name.find(tensor.name);
        if (value == nullptr) {
            throw Error(ErrorCode::mismatch, "the plan's model has " + tensor.name + ", which is not in it", where,
                        "was it trained by a plan of the same model?");
        }
        if (value->shape != tensor.shape) {
            throw Error(
                ErrorCode::mismatch,
                tensor.name + " is " + text_of(value->shape) + ", that of the plan's model " + text_of(tensor.shape),
                where, is_transposed(value->shape, tensor.shape) ? transposed_hint : "");
        }
        known.insert(tensor.name);
    }
    for (const NamedTensor& value : values) {
        if (!value.name.starts_with(parameters) || known.contains(value.name)) continue;
        throw Error(ErrorCode::mismatch, "it has " + value.name + ", which the plan's model does not have", where,
                    "was it trained by a plan of the same model?");
    }
}

void set_values(exec::ModelState& state, const std::vector<NamedTensor>& values, bool moments) {
    const ByName by_name(values);
    for (const StateTensor& tensor : state.tensors()) {
        if (!taken(tensor, moments)) continue;
        const NamedTensor* value = by_name.find(tensor.name);
        ensure(value != nullptr, "values were checked");
        state.set(tensor, value->values);
    }
}

bool holds_best(const std::vector<NamedTensor>& values) {
    return std::any_of(values.begin(), values.end(),
                       [](const NamedTensor& value) { return value.name.starts_with(best_prefix); });
}

bool holds_best(const TrainingState& state, BestBy by) { return state.best_by == by && holds_best(state.tensors); }

std::vector<NamedTensor> best_values(const std::vector<NamedTensor>& values) {
    std::vector<NamedTensor> best;
    for (const NamedTensor& value : values) {
        if (!value.name.starts_with(best_prefix)) continue;
        best.push_back({value.name.substr(std::string_view(best_prefix).size()), value.shape, value.values});
    }
    return best;
}

bool all_finite(const std::vector<NamedTensor>& values) {
    return std::all_of(values.begin(), values.end(), [](const NamedTensor& tensor) {
        return std::all_of(tensor.values.begin(), tensor.values.end(), [](float v) { return std::isfinite(v); });
    });
}

}  // namespace gnnplan::deploy
