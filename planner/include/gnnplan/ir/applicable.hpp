// These functions say why a model cannot have a configuration at all, or return nothing where it can. Searching and
// lowering both ask them.
#pragma once

#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/sites.hpp>

#include <optional>
#include <string_view>

namespace gnnplan {

// Maxima and softmaxes take the whole neighbourhood of a vertex on the ranks that have its row, and so do values of
// edges that are kept: of models that compare rows, and where scores of attention are stored for a backward pass.
std::optional<std::string_view> why_not_on(const SiteGraph& model, const Distribution& on, AttentionScores attention);

// Nobody but a dense product may want its operand or its result in whole rows for it to exchange tiles, which a
// backward pass does for weight gradients; and columns have to be split.
std::optional<std::string_view> why_no_ring(const SiteGraph& model, const Distribution& on);

}  // namespace gnnplan
