// Dense products that exchange tiles of rows instead of moving whole matrices (RingGemmStep; DEAL, section 3.4). Which
// products of a pass these are follows from its orders (lower/rules.hpp).
#include "planner/enumerate/switches/rows.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/applicable.hpp>

#include <algorithm>

namespace gnnplan::enumerate {
namespace {

// None where it is asked for and cannot be.
std::vector<Switches> rings(const Asked& asked, const Distribution& on, const Switches& so_far) {
    const bool applies = !why_no_ring(asked.model, on);
    std::vector<bool> values;
    for (const bool ring : {false, true}) {
        if (ring == asked.pins.ring.value_or(ring) && (applies || !ring)) values.push_back(ring);
    }
    return with_each(so_far, &Switches::ring, values);
}

std::vector<OtherValue> other_ring(const Asked& asked, const Configuration& chosen) {
    Configuration rung = chosen;
    rung.ring = true;
    if (!chosen.ring && (why_no_ring(asked.model, chosen.on()) || !asked.rings(asked.model, rung))) return {};
    return {turned(chosen, &Switches::ring)};
}

std::optional<LeftOut> without_ring(const Asked& asked, const std::vector<Distribution>& grids) {
    const auto without = std::count_if(
        grids.begin(), grids.end(), [&](const Distribution& on) { return why_no_ring(asked.model, on).has_value(); });
    if (!asked.pins.ring.value_or(false) || without == 0) return std::nullopt;
    return LeftOut{"grids that split no columns", "in a ring, ranks exchange columns", false, without};
}

}  // namespace

extern const SwitchRow ring_row;
const SwitchRow ring_row = {
    "ring", [](const Pins& pins) { return pins.ring.has_value(); }, rings, other_ring, nullptr, without_ring};

void check_ring(const Asked& asked, const std::vector<Distribution>& grids, bool any_product_rings) {
    if (!asked.pins.ring.value_or(false)) return;
    const auto refuse = [](const std::string& what, const char* hint) {
        throw Error(ErrorCode::usage, what, "--ring", hint);
    };
    if (asked.model.trains()) refuse(std::string(*why_no_ring(asked.model, {})), "use --task infer");
    if (any_product_rings) return;
    const bool splits = std::any_of(grids.begin(), grids.end(),
                                    [&](const Distribution& on) { return !why_no_ring(asked.model, on).has_value(); });
    if (!splits) refuse("ranks exchange columns in a ring, and no such grid splits them", "a grid XxY with Y > 1 does");
    refuse("no dense product of this " + asked.model.model + " is between two matrices that are split by columns",
           "leave it out; other --forward orders may have one");
}

}  // namespace gnnplan::enumerate
