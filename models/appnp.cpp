#include <gnnplan/models.hpp>

#include "models/layers.hpp"

namespace gnnplan::models {

OpGraph appnp(const ModelRecord& model) {
    return stack(model, std::nullopt, [](Layers& layers, int h, std::int64_t columns) {
        return layers.propagate(layers.bias(layers.linear(h, columns)));
    });
}

}  // namespace gnnplan::models
