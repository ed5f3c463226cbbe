#include <gnnplan/models.hpp>

#include "models/layers.hpp"

namespace gnnplan::models {

// [A^T H | H] W is A^T H W_n + H W_s: the concatenation of the paper needs no operation.
OpGraph sage(const std::vector<std::int64_t>& widths, bool bias) {
    return stack("sage", widths, [&](Layers& layers, int h, std::int64_t columns) {
        const int read = layers.dropout(h);
        const int neighbours = layers.linear(layers.aggregate(read), columns, "neighbour");
        const int z = layers.sum(neighbours, layers.linear(read, columns, "self"));
        return bias ? layers.bias(z) : z;
    });
}

OpGraph sage_gcn(const std::vector<std::int64_t>& widths, bool bias) {
    return stack("sage", widths, [&](Layers& layers, int h, std::int64_t columns) {
        const int z = layers.linear(layers.aggregate(layers.dropout(h)), columns, "neighbour");
        return bias ? layers.bias(z) : z;
    });
}

}  // namespace gnnplan::models
