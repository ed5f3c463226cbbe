// Messages in bfloat16 where they may be rounded: allowed where it is asked for, as it is inexact.
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::enumerate {
namespace {

// Weights of edges that follow from small differences of vectors, which rounding would change.
bool weighs_by_differences(const Asked& asked) {
    return asked.model.reduces_by(Reduce::attention) || asked.model.reduces_by(Reduce::cosine);
}

bool may_round(const Asked& asked, const Distribution& on) {
    return asked.pins.wire == Wire::bfloat16 && on.sends() && !weighs_by_differences(asked);
}

std::vector<Switches> wires(const Asked& asked, const Distribution& on, const Switches& so_far) {
    if (!may_round(asked, on)) return with_each(so_far, &Switches::wire, {Wire::fp32});
    return with_each(so_far, &Switches::wire, {Wire::fp32, Wire::bfloat16});
}

std::vector<OtherValue> other_wire(const Asked& asked, const Configuration& chosen) {
    if (!may_round(asked, chosen.on())) return {};
    if (chosen.wire == Wire::bfloat16) return {other(chosen, "fp32", &Switches::wire, Wire::fp32)};
    return {other(chosen, "bf16", &Switches::wire, Wire::bfloat16)};
}

void check_wire(const Asked& asked) {
    if (asked.pins.wire != Wire::bfloat16 || !weighs_by_differences(asked)) return;
    throw Error(ErrorCode::usage,
                asked.model.model + " weighs edges by small differences, which rounded messages would change",
                "`wire bf16`", "gcn, gin, sage, sgc, appnp, sign and gcnii may round what they send");
}

}  // namespace

extern const SwitchRow wire_row;
const SwitchRow wire_row = {"wire", [](const Pins& pins) { return pins.wire.has_value(); }, wires, other_wire,
                            check_wire};

}  // namespace gnnplan::enumerate
