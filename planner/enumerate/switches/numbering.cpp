// How vertices are numbered: as the graph has them, shuffled, or by parts.
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::enumerate {
namespace {

std::vector<Switches> parts(const Asked& asked, const Distribution& on, const Switches& so_far) {
    if (!asked.pins.partition || on.grid.x == 1) return with_each(so_far, &Switches::parts, {0});
    return with_each(so_far, &Switches::parts, {0, on.grid.x});
}

std::vector<OtherValue> other_parts(const Asked&, const Configuration& chosen) {
    if (chosen.parts <= 1) return {};
    return {other(chosen, "off", &Switches::parts, 0)};
}

// Training that loads its graph in shares keeps to numberings that do not take the whole graph.
void check_shares(const Asked& asked) {
    const bool pruned = asked.pins.loss_rows.value_or(false);
    if (!asked.in_shares || !asked.model.trains() || !(pruned || asked.pins.partition)) return;
    throw Error(
        ErrorCode::usage,
        pruned ? "which rows the loss needs is found out from the whole graph" : "parts are made of the whole graph",
        "--load", "use --load whole, or leave out what asks for it");
}

// Statistics know no order of vertices, and parts are balanced already: a permutation within them changes nothing that
// counts.
std::vector<Switches> permutations(const Asked& asked, const Distribution& on, const Switches& so_far) {
    const bool balances = asked.counted && on.grid.x * on.grid.z > 1 && so_far.parts <= 1;
    if (!balances) return with_each(so_far, &Switches::permutation, {asked.pins.permutation.value_or(false)});
    return with_each(so_far, &Switches::permutation, pinned_or(asked.pins.permutation, {false, true}));
}

std::vector<OtherValue> other_permutation(const Asked&, const Configuration& chosen) {
    if (!chosen.permutation) return {};
    return {turned(chosen, &Switches::permutation)};
}

}  // namespace

extern const SwitchRow parts_row, permutation_row;
const SwitchRow parts_row = {"parts", [](const Pins& pins) { return pins.partition; }, parts, other_parts,
                             check_shares};
const SwitchRow permutation_row = {"permutation", [](const Pins& pins) { return pins.permutation.has_value(); },
                                   permutations, other_permutation};

}  // namespace gnnplan::enumerate
