#include <gnnplan/ir/applicable.hpp>

namespace gnnplan {

std::optional<std::string_view> why_not_on(const SiteGraph& model, const Distribution& on, AttentionScores attention) {
    if (model.needs_whole_neighbourhoods() && on.splits_neighbourhoods())
        return "a maximum or a softmax is no sum: no grid that splits neighbourhoods over ranks can take it";
    const bool stores = attention == AttentionScores::stored && model.trains() && model.reduces_by(Reduce::attention);
    if ((stores || model.reduces_by(Reduce::cosine)) && on.sends_nonzeros())
        return "values of edges lie with whole neighbourhoods: no grid that shares out nonzeros can take them";
    return std::nullopt;
}

std::optional<std::string_view> why_no_ring(const SiteGraph& model, const Distribution& on) {
    if (model.trains()) return "weight gradients need whole rows, which a ring never makes";
    if (!on.splits_columns()) return "a ring exchanges columns, and the grid does not split them";
    return std::nullopt;
}

}  // namespace gnnplan
