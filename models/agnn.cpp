#include <gnnplan/models.hpp>

#include "models/layers.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::models {
namespace {

void check_shape(const ModelRecord& model) {
    const auto& widths = model.widths;
    if (widths.size() < 3) {
        throw Error(ErrorCode::usage,
                    "agnn has a linear map before its layers and one behind them, with a hidden width between",
                    "`layers`", "give at least two layers");
    }
    if (std::any_of(widths.begin() + 1, widths.end() - 1, [&](auto width) { return width != widths[1]; }))
        throw Error(ErrorCode::usage, "all layers of agnn work on the same columns", "`hidden`",
                    "give one hidden width");
    if (model.residual != Residual::none || model.jk != JumpingKnowledge::none)
        throw Error(ErrorCode::usage, "agnn has no residual connections and no jumping knowledge", "`model`",
                    "leave out `residual` and `jk`");
    if (model.norm != Norm::none)
        throw Error(ErrorCode::usage, "agnn has no norms: its layers compare directions", "`norm`", "leave it out");
    if (!model.pre.empty() || !model.post.empty())
        throw Error(ErrorCode::usage, "agnn has one linear map before its layers and one behind them", "`model`",
                    "leave out `pre` and `post`");
}

}  // namespace

OpGraph agnn(const ModelRecord& model) {
    check_shape(model);
    const int layers = static_cast<int>(model.widths.size()) - 1;
    Layers of(model);
    int h = of.dropout(of.input(), 1);
    for (int l = 1; l <= layers; ++l) {
        of.begin(l);
        if (l == 1) h = of.activate(of.bias(of.linear(h, model.widths[1], "embedding"), "embedding"));
        h = of.compare(h);
    }
    h = of.dropout(h, layers + 1);
    return of.end(of.bias(of.linear(h, model.widths.back(), "output"), "output"));
}

}  // namespace gnnplan::models
