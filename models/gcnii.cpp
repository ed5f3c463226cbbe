#include <gnnplan/models.hpp>

#include "models/layers.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cmath>

namespace gnnplan::models {
namespace {

void check_gcnii(const ModelRecord& model) {
    const auto refuse = [](const char* what, const char* where, const char* hint) {
        throw Error(ErrorCode::usage, what, where, hint);
    };
    const auto& widths = model.widths;
    if (model.pre.empty())
        refuse("gcnii adds what linear maps before layer 1 make", "`pre`",
               "give their widths, or two layers or more and what is hidden between them");
    if (model.jk != JumpingKnowledge::last && model.post.empty())
        refuse("gcnii has a linear map behind its layers", "`jk`", "let `jk` be last, or give `post`");
    if (std::any_of(widths.begin() + 1, widths.end() - 1, [&](auto width) { return width != model.pre.back(); }))
        refuse("each layer of gcnii has as many columns as the linear map before layer 1", "`widths`",
               "give `pre` and hidden layers the same width");
    if (model.teleport == 1.0)
        refuse("layers of gcnii would aggregate nothing", "`teleport`", "give less than 1; 0.1 is usual");
}

}  // namespace

OpGraph gcnii(const ModelRecord& model) {
    check_gcnii(model);
    const double theta = with_defaults(model).theta.value();
    int l = 0;
    return stack(model, std::nullopt, [&](Layers& layers, int h, std::int64_t columns) {
        return layers.mix(layers.aggregate_with_initial(h), columns, std::log1p(theta / ++l));
    });
}

}  // namespace gnnplan::models
