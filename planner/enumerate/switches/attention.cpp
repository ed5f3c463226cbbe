// Where backward passes of additive attention have scores from. Storing them saves draws of dropout and nothing else
// that costs time; they lie with whole neighbourhoods on every rank of a y-group.
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/applicable.hpp>

namespace gnnplan::enumerate {
namespace {

bool reads_scores(const Asked& asked) { return asked.model.trains() && asked.model.reduces_by(Reduce::attention); }

bool may_store(const Asked& asked, const Distribution& on) {
    return reads_scores(asked) && !why_not_on(asked.model, on, AttentionScores::stored);
}

std::vector<Switches> attentions(const Asked& asked, const Distribution& on, const Switches& so_far) {
    constexpr auto recompute = AttentionScores::recompute, stored = AttentionScores::stored;
    if (!may_store(asked, on)) return with_each(so_far, &Switches::attention, {recompute});
    if (!asked.drops_attention)
        return with_each(so_far, &Switches::attention, pinned_or(asked.pins.attention, {recompute}));
    return with_each(so_far, &Switches::attention, pinned_or(asked.pins.attention, {recompute, stored}));
}

std::vector<OtherValue> other_attention(const Asked& asked, const Configuration& chosen) {
    if (!may_store(asked, chosen.on())) return {};
    if (chosen.attention == AttentionScores::stored)
        return {other(chosen, "recompute", &Switches::attention, AttentionScores::recompute)};
    return {other(chosen, "stored", &Switches::attention, AttentionScores::stored)};
}

void check_attention(const Asked& asked) {
    if (!asked.pins.attention) return;
    if (!asked.model.reduces_by(Reduce::attention))
        throw Error(ErrorCode::usage,
                    asked.model.model + " has no additive attention, whose scores are computed again or stored",
                    "--attention", "only gat has");
    if (!reads_scores(asked))
        throw Error(ErrorCode::usage,
                    asked.model.model + " has no backward pass in an inference, which would want scores", "--attention",
                    "leave it out");
}

std::optional<LeftOut> without_stored(const Asked& asked, const std::vector<Distribution>&) {
    if (!reads_scores(asked) || asked.pins.attention || asked.drops_attention) return std::nullopt;
    return LeftOut{"stored attention",
                   "4 bytes for each nonzero and head, kept and sent to where the transpose has them, where nothing is "
                   "dropped and 4 numbers of each vertex and head say the same",
                   true};
}

}  // namespace

extern const SwitchRow attention_row;
const SwitchRow attention_row = {"attention",     [](const Pins& pins) { return pins.attention.has_value(); },
                                 attentions,      other_attention,
                                 check_attention, without_stored};

}  // namespace gnnplan::enumerate
