#include <gnnplan/models.hpp>

#include "models/layers.hpp"

namespace gnnplan::models {

OpGraph gin(const std::vector<std::int64_t>& widths, bool bias) {
    return stack("gin", widths, [&](Layers& layers, int h, std::int64_t columns) {
        const auto linear = [&](int of, const char* part) {
            const int z = layers.linear(of, columns, part);
            return bias ? layers.bias(z, part) : z;
        };
        const int inner = linear(layers.aggregate(layers.dropout(h)), "mlp.0");
        return linear(layers.relu(inner), "mlp.1");
    });
}

}  // namespace gnnplan::models
