// Operands of products rounded to bfloat16, where panels are packed: it is asked for, as it is inexact.
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::enumerate {
namespace {

std::vector<Switches> roundings(const Asked& asked, const Distribution&, const Switches& so_far) {
    return with_each(so_far, &Switches::bf16, {asked.pins.bf16});
}

void check_rounding(const Asked& asked) {
    if (!asked.pins.bf16 || asked.model.reduces_by(Reduce::sum) || asked.model.reduces_by(Reduce::cosine)) return;
    throw Error(ErrorCode::usage, asked.model.model + " has no product that rounds its operand", "--bf16",
                "gcn, gin, and sage with mean, sum or gcn have");
}

}  // namespace

extern const SwitchRow bf16_row;
const SwitchRow bf16_row = {"bf16", [](const Pins& pins) { return pins.bf16; }, roundings, nullptr, check_rounding};

}  // namespace gnnplan::enumerate
