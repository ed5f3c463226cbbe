#include <gnnplan/models.hpp>

#include "models/layers.hpp"

namespace gnnplan::models {

OpGraph gcn(const std::vector<std::int64_t>& widths, bool bias) {
    return stack("gcn", widths, [&](Layers& layers, int h, std::int64_t columns) {
        const int z = layers.linear(layers.aggregate(layers.dropout(h)), columns);
        return bias ? layers.bias(z) : z;
    });
}

}  // namespace gnnplan::models
