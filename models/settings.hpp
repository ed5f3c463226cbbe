// These functions say which settings a model has.
#pragma once

#include <gnnplan/models.hpp>

#include <string_view>

namespace gnnplan::models {

// None of a name that no model has.
const Model* known_model(std::string_view name);

inline bool attends(const ModelRecord& model) { return model.name == "gat"; }
inline bool has_epsilon(const ModelRecord& model) { return model.name == "gin"; }
inline bool propagates(const ModelRecord& model) {
    return model.name == "sgc" || model.name == "sign" || model.name == "appnp";
}
inline bool has_theta(const ModelRecord& model) { return model.name == "gcnii"; }
inline bool teleports(const ModelRecord& model) { return model.name == "appnp" || has_theta(model); }

}  // namespace gnnplan::models
