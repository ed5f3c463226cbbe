#include <gnnplan/models.hpp>

#include "models/layers.hpp"

namespace gnnplan::models {

// Where epsilon is 0 and stays so, the matrix has the vertex itself on its diagonal.
OpGraph gin(const ModelRecord& model) {
    const bool on_diagonal = model.epsilon == 0 && !model.trains_epsilon;
    return stack(model, "mlp.1", [&](Layers& layers, int h, std::int64_t columns) {
        const int sums = on_diagonal ? layers.aggregate(h) : layers.aggregate_with_self(h);
        const int inner = layers.bias(layers.linear(sums, columns, "mlp.0"), "mlp.0");
        return layers.linear(layers.activate(inner), columns, "mlp.1");
    });
}

}  // namespace gnnplan::models
