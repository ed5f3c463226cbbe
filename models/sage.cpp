#include <gnnplan/models.hpp>

#include "models/layers.hpp"

namespace gnnplan::models {

// [A^T H | H] W is A^T H W_n + H W_s: the concatenation of the paper needs no operation.
OpGraph sage(const std::vector<std::int64_t>& widths, bool bias) {
    Layers layers("sage", widths.front());
    int value = layers.last();
    const int depth = static_cast<int>(widths.size()) - 1;
    for (int l = 1; l <= depth; ++l) {
        layers.begin(l);
        const std::int64_t columns = widths[static_cast<std::size_t>(l)];
        const int read = layers.dropout(value);
        const int neighbours = layers.linear(layers.aggregate(read), columns, "neighbour");
        value = layers.sum(neighbours, layers.linear(read, columns, "self"));
        if (bias) value = layers.bias(value);
        if (l < depth) value = layers.relu(value);
    }
    return layers.end(value);
}

OpGraph sage_gcn(const std::vector<std::int64_t>& widths, bool bias) {
    Layers layers("sage", widths.front());
    int value = layers.last();
    const int depth = static_cast<int>(widths.size()) - 1;
    for (int l = 1; l <= depth; ++l) {
        layers.begin(l);
        const int read = layers.aggregate(layers.dropout(value));
        value = layers.linear(read, widths[static_cast<std::size_t>(l)], "neighbour");
        if (bias) value = layers.bias(value);
        if (l < depth) value = layers.relu(value);
    }
    return layers.end(value);
}

}  // namespace gnnplan::models
