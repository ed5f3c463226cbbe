#include "models/settings.hpp"

#include <algorithm>

namespace gnnplan::models {

const Model* known_model(std::string_view name) {
    const auto found = std::ranges::find(registry(), name, &Model::name);
    return found == registry().end() ? nullptr : &*found;
}

int usual_layers(std::string_view name) {
    const Model* const model = known_model(name);
    return model == nullptr ? 2 : model->linear_maps;
}

ModelRecord with_widths(ModelRecord model, const std::vector<std::int64_t>& widths) {
    const int hops = with_defaults(model).hops;
    model.widths = widths;
    const Model* const found = known_model(model.name);
    if (found == nullptr || found->maps == Model::Maps::in_layers || widths.size() < 2) return model;
    const bool before = found->maps == Model::Maps::before;
    std::vector<std::int64_t>& inner = before ? model.pre : model.post;
    inner.insert(inner.end(), widths.begin() + 1, widths.end() - 1);
    model.pre_activation = before && (model.pre_activation || widths.size() > 2);
    model.widths.assign(before ? 1 : static_cast<std::size_t>(hops), widths.front());
    model.widths.push_back(widths.back());
    return model;
}

ModelRecord with_own_settings(ModelRecord model) {
    if (!attends(model)) {
        model.heads = model.output_heads = 0;
        model.average_heads = false;
        model.slope.reset();
    }
    if (!propagates(model)) model.hops = 0;
    if (!teleports(model)) model.teleport.reset();
    if (!has_epsilon(model)) {
        model.epsilon = 0;
        model.trains_epsilon = false;
    }
    return model;
}

ModelRecord with_defaults(ModelRecord model) {
    model.activation = model.activation.value_or(attends(model) ? Activation::elu : Activation::relu);
    if (attends(model)) {
        model.heads = std::max(1, model.heads);
        model.output_heads = std::max(1, model.output_heads);
        model.slope = model.slope.value_or(Heads{}.slope);
    }
    if (teleports(model)) model.teleport = model.teleport.value_or(0.1);
    const bool hops_are_layers = model.name == "sign" && model.widths.size() > 1;
    const int usual = hops_are_layers ? static_cast<int>(model.widths.size()) - 1 : teleports(model) ? 10 : 2;
    if (propagates(model) && model.hops == 0) model.hops = usual;
    return model;
}

}  // namespace gnnplan::models
