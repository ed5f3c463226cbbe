// How many layers at a time are made again for their backward pass. It is slower than to keep what they make, so that
// only memory asks for it.
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::enumerate {
namespace {

// Clones get late sums of each other's in a forward pass, which is not made twice.
std::vector<Switches> recomputations(const Asked& asked, const Distribution& on, const Switches& so_far) {
    if (!asked.model.trains() || on.grid.grouped()) return {so_far};
    std::vector<int> values{0};
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
    if (layers >= asked.model.depth)
        refuse("the last layers are followed by their backward pass, so that fewer than all " +
               std::to_string(asked.model.depth) + " are made again at once");
}

}  // namespace

extern const SwitchRow recompute_row;
const SwitchRow recompute_row = {"remade", [](const Pins& pins) { return pins.remade.has_value(); }, recomputations,
                                 kept_instead, check_recomputation};

}  // namespace gnnplan::enumerate
