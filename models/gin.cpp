#include <gnnplan/models.hpp>

#include "models/layers.hpp"

namespace gnnplan::models {

OpGraph gin(const ModelRecord& model) {
    return stack(model, "mlp.1", [&](Layers& layers, int h, std::int64_t columns) {
        const int sums = layers.aggregate_with_self(h);
        const int inner = layers.bias(layers.linear(sums, columns, "mlp.0"), "mlp.0");
        return layers.linear(layers.activate(inner), columns, "mlp.1");
    });
}

}  // namespace gnnplan::models
