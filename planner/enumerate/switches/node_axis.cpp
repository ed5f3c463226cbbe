// Along which axis of the grid ranks are numbered first, so that ranks that differ in it share a node. Where all ranks
// are on one node it makes no difference, and neither does it where a grid has one axis.
#include "planner/enumerate/switches/rows.hpp"

#include <algorithm>

namespace gnnplan::enumerate {
namespace {

struct Named {
    NodeAxis axis;
    const char* name;
};
constexpr Named axes[] = {{NodeAxis::y, "y"}, {NodeAxis::x, "x"}, {NodeAxis::z, "z"}};

// Those that give ranks another order than y does. Without ranks along y, z is the first that has any.
std::vector<Named> others_on(const Grid& grid) {
    std::vector<Named> others;
    if (grid.y * grid.z > 1 && grid.x > 1) others.push_back(axes[1]);
    if (grid.y > 1 && grid.z > 1) others.push_back(axes[2]);
    return others;
}

std::vector<Switches> pinned_axis(const Asked& asked, const Distribution& on, const Switches& so_far) {
    const NodeAxis wanted = asked.pins.node_axis.value_or(NodeAxis::y);
    const std::vector<Named> others = others_on(on.grid);
    const bool differs = std::ranges::find(others, wanted, &Named::axis) != others.end();
    return with_each(so_far, &Switches::node_axis, {differs ? wanted : NodeAxis::y});
}

std::vector<OtherValue> other_axes(const Asked& asked, const Configuration& chosen) {
    std::vector<OtherValue> others;
    if (!asked.several_nodes) return others;
    std::vector<Named> all = others_on(chosen.grid);
    if (!all.empty()) all.insert(all.begin(), axes[0]);
    for (const Named& each : all) {
        if (each.axis != chosen.node_axis) others.push_back(other(chosen, each.name, &Switches::node_axis, each.axis));
    }
    return others;
}

}  // namespace

std::vector<Switches> on_other_node_axes(const Asked& asked, const Distribution& on, const Switches& switches) {
    std::vector<NodeAxis> values;
    if (asked.several_nodes && !asked.pins.node_axis) {
        for (const Named& each : others_on(on.grid)) values.push_back(each.axis);
    }
    return with_each(switches, &Switches::node_axis, values);
}

extern const SwitchRow node_axis_row;
const SwitchRow node_axis_row = {"node_axis", [](const Pins& pins) { return pins.node_axis.has_value(); }, pinned_axis,
                                 other_axes};

}  // namespace gnnplan::enumerate
