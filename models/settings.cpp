#include "models/settings.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <utility>

namespace gnnplan::models {

const Model* known_model(std::string_view name) {
    const auto found = std::ranges::find(registry(), name, &Model::name);
    return found == registry().end() ? nullptr : &*found;
}

int usual_layers(std::string_view name) {
    const Model* const model = known_model(name);
    return model == nullptr ? 2 : model->linear_maps;
}

namespace {

// Maps to the width of the hidden layers before layer 1, unless other maps are asked for, and one behind the last.
ModelRecord with_maps_around(ModelRecord model) {
    if (model.pre.empty() && model.widths.size() > 2) model.pre = {model.widths[1]};
    model.pre_activation = model.pre_activation || !model.pre.empty();
    if (model.post.empty() && model.jk == JumpingKnowledge::none) model.jk = JumpingKnowledge::last;
    return model;
}
ModelRecord without_maps_around(ModelRecord model) {
    model.pre_activation = false;
    if (model.pre.size() == 1) model.pre.clear();
    if (model.jk == JumpingKnowledge::last) model.jk = JumpingKnowledge::none;
    return model;
}

// Refuses other maps than those that a model's widths put behind its layers.
void check_own_maps(const ModelRecord& model) {
    if (!model.post.empty())
        throw Error(ErrorCode::usage, model.name + " has linear maps of its own", "`post`",
                    "say `layers` and `hidden`");
    if (model.jk != JumpingKnowledge::none)
        throw Error(ErrorCode::usage, model.name + " has a linear map of each hop", "`jk`", "leave it out");
}

}  // namespace

ModelRecord with_widths(ModelRecord model, const std::vector<std::int64_t>& widths) {
    const int hops = with_defaults(model).hops;
    model.widths = widths;
    const Model* const found = known_model(model.name);
    if (found == nullptr || found->maps == Model::Maps::in_layers || widths.size() < 2) return model;
    if (found->maps == Model::Maps::around) return with_maps_around(std::move(model));
    const bool before = found->maps == Model::Maps::before;
    if (!before) check_own_maps(model);
    std::vector<std::int64_t>& inner = before ? model.pre : model.post;
    inner.insert(inner.end(), widths.begin() + 1, widths.end() - 1);
    model.pre_activation = model.pre_activation || (before && widths.size() > 2);
    model.widths.assign(before ? 1 : static_cast<std::size_t>(hops), widths.front());
    model.widths.push_back(widths.back());
    return model;
}

ModelRecord as_asked(ModelRecord model) {
    const Model* const found = known_model(model.name);
    if (found == nullptr || found->maps == Model::Maps::in_layers || model.widths.size() < 2) return model;
    if (found->maps == Model::Maps::around) return without_maps_around(std::move(model));
    const bool before = found->maps == Model::Maps::before;
    std::vector<std::int64_t> widths = std::exchange(before ? model.pre : model.post, {});
    widths.insert(widths.begin(), model.widths.front());
    widths.push_back(model.widths.back());
    model.widths = std::move(widths);
    model.pre_activation = model.pre_activation && !before;
    return model;
}

bool needs_maps(const ModelRecord& model) {
    const Model* const found = known_model(model.name);
    return found != nullptr && found->maps == Model::Maps::around;
}

ModelRecord with_own_settings(ModelRecord model) {
    if (!attends(model)) {
        model.heads = model.output_heads = 0;
        model.average_heads = false;
        model.slope.reset();
    }
    if (!propagates(model)) model.hops = 0;
    if (!teleports(model)) model.teleport.reset();
    if (!has_theta(model)) model.theta.reset();
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
    if (has_theta(model)) model.theta = model.theta.value_or(0.5);
    const bool hops_are_layers = model.name == "sign" && model.widths.size() > 1;
    const int usual = hops_are_layers ? static_cast<int>(model.widths.size()) - 1 : teleports(model) ? 10 : 2;
    if (propagates(model) && model.hops == 0) model.hops = usual;
    return model;
}

}  // namespace gnnplan::models
