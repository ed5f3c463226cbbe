#include <gnnplan/models.hpp>

#include "models/layers.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::models {
namespace {

// The heads of a layer that makes `columns` columns.
Heads heads_of(const ModelRecord& model, bool last, std::int64_t columns) {
    Heads heads;
    heads.count = last ? model.output_heads : model.heads;
    heads.average = heads.count > 1 && (last || model.average_heads);
    heads.slope = model.slope.value();
    if (!heads.average && columns % heads.count != 0) {
        throw Error(ErrorCode::usage,
                    std::to_string(heads.count) + " heads cannot share " + std::to_string(columns) + " columns",
                    "`heads`", "choose a width that is a multiple of the heads, or average them");
    }
    return heads;
}

}  // namespace

OpGraph gat(const ModelRecord& asked) {
    const ModelRecord model = with_defaults(asked);
    return stack(model, "", [&](Layers& layers, int h, std::int64_t columns) {
        const Heads heads = heads_of(model, layers.is_last(), columns);
        return layers.attend(layers.linear(h, heads.average ? heads.count * columns : columns), heads);
    });
}

}  // namespace gnnplan::models
