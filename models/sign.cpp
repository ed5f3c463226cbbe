#include <gnnplan/models.hpp>

#include "models/layers.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::models {
namespace {

void check_sign(const ModelRecord& model) {
    const auto& widths = model.widths;
    const auto refuse = [](const char* what, const char* where, const char* hint) {
        throw Error(ErrorCode::usage, what, where, hint);
    };
    if (std::any_of(widths.begin(), widths.end() - 1, [&](auto width) { return width != widths.front(); }))
        refuse("each hop of sign has as many columns as there are features", "`widths`",
               "give the widths of its linear maps with `layers` and `hidden`");
    if (model.hops != 0 && model.hops + 1 != static_cast<int>(widths.size()))
        refuse("sign has a layer for each hop", "`hops`", "give as many widths");
    if (!model.pre.empty()) refuse("sign aggregates the features themselves", "`pre`", "leave it out");
    if (model.residual != Residual::none || model.jk != JumpingKnowledge::none)
        refuse("sign has a linear map of each hop, and adds nothing else", "`model`", "leave out `residual` and `jk`");
    if (model.norm != Norm::none) refuse("sign has no norms", "`norm`", "leave it out");
}

// A map of each hop, the first behind the last of them, with what stands behind it, and its part of the next map.
class Hops {
public:
    Hops(const ModelRecord& model, Layers& layers) : model_(model), layers_(layers) {}

    int part(int hop, int aggregated) {
        const std::string name = "hop." + std::to_string(hop);
        if (model_.post.empty()) return layers_.linear(aggregated, model_.widths.back(), name, true);
        const int mapped = layers_.bias(layers_.linear(aggregated, model_.post.front(), name, true), name);
        const int read = layers_.dropout(layers_.activate(mapped), ++key_);
        return layers_.linear(read, next_width(1), "output.0." + std::to_string(hop));
    }

    // The sum of all parts, and the maps behind it.
    int behind(int sum) {
        int value = layers_.bias(sum, model_.post.empty() ? "hop" : "output.0");
        for (std::size_t k = 1; k < model_.post.size(); ++k) {
            const std::string name = "output." + std::to_string(k);
            const int read = layers_.dropout(layers_.activate(value), ++key_);
            value = layers_.bias(layers_.linear(read, next_width(k + 1), name), name);
        }
        return value;
    }

private:
    std::int64_t next_width(std::size_t k) const {
        return k < model_.post.size() ? model_.post[k] : model_.widths.back();
    }

    const ModelRecord& model_;
    Layers& layers_;
    int key_ = 1;  // of draws: that of the features has been
};

}  // namespace

OpGraph sign(const ModelRecord& model) {
    check_sign(model);
    Layers layers(model);
    std::vector<int> aggregated{layers.dropout(layers.input(), 1)};
    const int hops = static_cast<int>(model.widths.size()) - 1;
    for (int l = 1; l <= hops; ++l) {
        layers.begin(l);
        aggregated.push_back(layers.aggregate(aggregated.back()));
    }
    Hops parts(model, layers);
    int sum = -1;
    for (int hop = hops; hop >= 0; --hop) {
        const int part = parts.part(hop, aggregated[static_cast<std::size_t>(hop)]);
        sum = sum < 0 ? part : layers.sum(sum, part);
    }
    return layers.end(parts.behind(sum));
}

}  // namespace gnnplan::models
