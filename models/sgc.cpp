#include <gnnplan/models.hpp>

#include "models/layers.hpp"

namespace gnnplan::models {

OpGraph sgc(const ModelRecord& model) {
    return stack(model, "", [](Layers& layers, int h, std::int64_t columns) {
        return layers.linear(layers.propagate(h), columns);
    });
}

}  // namespace gnnplan::models
