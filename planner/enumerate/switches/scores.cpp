// How ranks make scores of edges together, in models that compare the rows of an edge's vertices: where columns of
// these are not split there is one way.
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::enumerate {
namespace {

struct Way {
    Scores scores;
    const char* name;
};
constexpr Way ways[] = {
    {Scores::columns, "columns"}, {Scores::whole_rows, "whole_rows"}, {Scores::dealt_rows, "dealt_rows"}};

bool differ(const Asked& asked, const Distribution& on) {
    return asked.model.reduces_by(Reduce::cosine) && on.splits_columns();
}

std::vector<Switches> scores(const Asked& asked, const Distribution& on, const Switches& so_far) {
    if (!differ(asked, on)) return with_each(so_far, &Switches::scores, {Scores::columns});
    return with_each(so_far, &Switches::scores,
                     pinned_or(asked.pins.scores, {Scores::columns, Scores::whole_rows, Scores::dealt_rows}));
}

std::vector<OtherValue> other_scores(const Asked& asked, const Configuration& chosen) {
    std::vector<OtherValue> others;
    if (!differ(asked, chosen.on())) return others;
    for (const Way& way : ways) {
        if (way.scores != chosen.scores) others.push_back(other(chosen, way.name, &Switches::scores, way.scores));
    }
    return others;
}

void check_scores(const Asked& asked) {
    if (asked.pins.scores && !asked.model.reduces_by(Reduce::cosine))
        throw Error(ErrorCode::usage, asked.model.model + " makes no scores of its edges from whole vertices",
                    "--scores", "only agnn does");
}

}  // namespace

extern const SwitchRow scores_row;
const SwitchRow scores_row = {"scores", [](const Pins& pins) { return pins.scores.has_value(); }, scores, other_scores,
                              check_scores};

}  // namespace gnnplan::enumerate
