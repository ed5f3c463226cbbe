#include <gnnplan/models.hpp>

#include "models/layers.hpp"

namespace gnnplan::models {

OpGraph gin(const std::vector<std::int64_t>& widths, bool bias) {
    Layers layers("gin", widths.front());
    int value = layers.last();
    const int depth = static_cast<int>(widths.size()) - 1;
    for (int l = 1; l <= depth; ++l) {
        layers.begin(l);
        const std::int64_t columns = widths[static_cast<std::size_t>(l)];
        value = layers.linear(layers.aggregate(layers.dropout(value)), columns, "mlp.0");
        if (bias) value = layers.bias(value, "mlp.0");
        value = layers.linear(layers.relu(value), columns, "mlp.1");
        if (bias) value = layers.bias(value, "mlp.1");
        if (l < depth) value = layers.relu(value);
    }
    return layers.end(value);
}

}  // namespace gnnplan::models
