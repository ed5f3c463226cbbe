#include <gnnplan/models.hpp>

#include "models/layers.hpp"

namespace gnnplan::models {

OpGraph gcn(const std::vector<std::int64_t>& widths, bool bias) {
    Layers layers("gcn", widths.front());
    int value = layers.last();
    const int depth = static_cast<int>(widths.size()) - 1;
    for (int l = 1; l <= depth; ++l) {
        layers.begin(l);
        value = layers.linear(layers.aggregate(layers.dropout(value)), widths[static_cast<std::size_t>(l)]);
        if (bias) value = layers.bias(value);
        if (l < depth) value = layers.relu(value);
    }
    return layers.end(value);
}

}  // namespace gnnplan::models
