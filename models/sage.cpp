#include <gnnplan/models.hpp>

#include "models/layers.hpp"

namespace gnnplan::models {
namespace {

// [aggregated | H] W is aggregated W_n + H W_s: the concatenation of the paper needs no operation.
template <class Aggregate>
OpGraph with_self(const ModelRecord& model, const Aggregate& aggregate) {
    return stack(model, "", [&](Layers& layers, int h, std::int64_t columns) {
        const int neighbours = layers.linear(aggregate(layers, h), columns, "neighbour");
        return layers.sum(neighbours, layers.linear(h, columns, "self"));
    });
}

}  // namespace

OpGraph sage(const ModelRecord& model) {
    return with_self(model, [](Layers& layers, int h) { return layers.aggregate(h); });
}

OpGraph sage_gcn(const ModelRecord& model) {
    return stack(model, "", [](Layers& layers, int h, std::int64_t columns) {
        return layers.linear(layers.aggregate(h), columns, "neighbour");
    });
}

OpGraph sage_max(const ModelRecord& model) {
    return with_self(model, [](Layers& layers, int h) { return layers.aggregate(h, Reduce::max); });
}

OpGraph sage_pool(const ModelRecord& model) {
    return with_self(model, [](Layers& layers, int h) {
        const int mapped = layers.bias(layers.linear(h, layers.width(h), "pool"), "pool");
        return layers.aggregate(layers.activate(mapped), Reduce::max);
    });
}

}  // namespace gnnplan::models
