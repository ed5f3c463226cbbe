// How many layers at a time are made again for their backward pass, or what follows their norms alone. It is slower
// than to keep what they make, so that only memory asks for it.
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::enumerate {
namespace {

// Without norms H is made in place of the sums.
bool normalises(const SiteGraph& model) {
    return std::ranges::any_of(model.sites, [](const Site& site) { return site.kind == SiteKind::norm; });
}

// Clones get late sums of each other's in a forward pass, which is not made twice.
std::vector<Switches> recomputations(const Asked& asked, const Distribution& on, const Switches& so_far) {
    if (!asked.model.trains() || on.grid.grouped()) return {so_far};
    std::vector<int> values{0};
    if (asked.buys_memory && normalises(asked.model)) values.push_back(remade_from_norms);
    for (int layers = 1; asked.buys_memory && layers < asked.model.depth; layers *= 2) values.push_back(layers);
    return with_each(so_far, &Switches::remade, pinned_or(asked.pins.remade, values));
}

std::vector<OtherValue> kept_instead(const Asked&, const Configuration& chosen) {
    if (chosen.remade == 0) return {};
    return {other(chosen, "off", &Switches::remade, 0)};
}

void check_recomputation(const Asked& asked) {
    const int layers = asked.pins.remade.value_or(0);
    if (layers == 0) return;
    const auto refuse = [](const std::string& what) {
        throw Error(ErrorCode::usage, what, "`recompute`", "leave it out");
    };
    if (!asked.model.trains()) refuse("an inference keeps nothing for a backward pass");
    if (layers == remade_from_norms && !normalises(asked.model))
        refuse("activations are made in place of sums that no norm reads, so that there is nothing to make again");
    if (layers >= asked.model.depth)
        refuse("at most " + std::to_string(asked.model.depth - 1) + " of " + std::to_string(asked.model.depth) +
               " layers are made again at once, as the backward pass of the last ones follows them at once");
}

}  // namespace

extern const SwitchRow recompute_row;
const SwitchRow recompute_row = {"remade", [](const Pins& pins) { return pins.remade.has_value(); }, recomputations,
                                 kept_instead, check_recomputation};

}  // namespace gnnplan::enumerate
