// How ranks make scores of edges together, in models that compare the rows of an edge's vertices: where columns of
// these are not split there is one way.
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>

#include <iterator>
#include <span>

namespace gnnplan::enumerate {
namespace {

constexpr Named<Scores> ways[] = {
    {Scores::columns, "columns"}, {Scores::whole_rows, "whole_rows"}, {Scores::dealt_rows, "dealt_rows"}};

// With dealt rows ranks tell each other which rows they need, once and not for every batch.
std::span<const Named<Scores>> ways_for(const Asked& asked) {
    return std::span(ways).first(std::size(ways) - (asked.batches ? 1 : 0));
}

bool differ(const Asked& asked, const Distribution& on) {
    return asked.model.reduces_by(Reduce::cosine) && on.splits_columns();
}

std::vector<Switches> scores(const Asked& asked, const Distribution& on, const Switches& so_far) {
    if (!differ(asked, on)) return with_each(so_far, &Switches::scores, {Scores::columns});
    return with_each(so_far, &Switches::scores, pinned_or(asked.pins.scores, values_of(ways_for(asked))));
}

std::vector<OtherValue> other_scores(const Asked& asked, const Configuration& chosen) {
    if (!differ(asked, chosen.on())) return {};
    return all_others(chosen, &Switches::scores, ways_for(asked));
}

void check_scores(const Asked& asked) {
    if (asked.pins.scores && !asked.model.reduces_by(Reduce::cosine))
        throw Error(ErrorCode::usage, asked.model.model + " makes no scores of its edges from whole vertices",
                    "`scores`", "only agnn does");
    if (asked.batches && asked.pins.scores == Scores::dealt_rows)
        throw Error(ErrorCode::usage,
                    "ranks do not tell each other for every update which rows of its batches or draws they need",
                    "`scores`", "say `scores columns` or `scores whole-rows`");
}

}  // namespace

extern const SwitchRow scores_row;
const SwitchRow scores_row = {"scores", [](const Pins& pins) { return pins.scores.has_value(); }, scores, other_scores,
                              check_scores};

}  // namespace gnnplan::enumerate
