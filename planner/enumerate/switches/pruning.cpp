// Only the rows that the loss needs, where there are others. Ranks that load shares of a graph do not know them.
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::enumerate {
namespace {

// Networks that are costed layer by layer, and what the loss reads of every layer has the rows of the last one.
bool never_pruned(const Asked& asked) {
    const auto& sites = asked.model.sites;
    return asked.layer_by_layer && std::any_of(sites.begin(), sites.end(), [&](const Site& site) {
               return site.addend >= 0 && asked.model.at(site.addend).layer < site.layer;
           });
}

// Owners' parts of a cut do not begin with the rows that the loss needs, and neither do those of groups.
std::vector<Switches> prunings(const Asked& asked, const Distribution& on, const Switches& so_far) {
    const bool known = asked.model.trains() && !asked.in_shares && !on.deals_edges();
    if (!known || !asked.saves_rows || never_pruned(asked)) return with_each(so_far, &Switches::loss_rows, {false});
    return with_each(so_far, &Switches::loss_rows, pinned_or(asked.pins.loss_rows, {false, true}));
}

std::vector<OtherValue> unpruned(const Asked&, const Configuration& chosen) {
    if (!chosen.loss_rows) return {};
    return {turned(chosen, &Switches::loss_rows)};
}

void check_pruning(const Asked& asked) {
    if (asked.batches && asked.pins.loss_rows.value_or(false))
        throw Error(ErrorCode::usage, "all rows are computed where updates draw batches or neighbours", "`loss-rows`",
                    "leave one of the two out");
    if (asked.model.trains() || !asked.pins.loss_rows.value_or(false)) return;
    throw Error(ErrorCode::usage, "an inference has no loss to compute rows for: it is of all vertices", "`loss-rows`",
                "leave it out, or plan with `task train`");
}

std::optional<LeftOut> without_pruning(const Asked& asked, const std::vector<Distribution>&) {
    if (!never_pruned(asked)) return std::nullopt;
    return LeftOut{"needed rows only", "rows of deep networks whose layers all reach the loss are not pruned"};
}

}  // namespace

extern const SwitchRow loss_rows_row;
const SwitchRow loss_rows_row = {"loss_rows",   [](const Pins& pins) { return pins.loss_rows.has_value(); },
                                 prunings,      unpruned,
                                 check_pruning, without_pruning};

}  // namespace gnnplan::enumerate
