// Along which axis of the grid ranks are numbered first, so that ranks that differ in it share a node. Where all ranks
// are on one node it makes no difference, and neither does it where a grid has one axis.
#include "planner/enumerate/switches/rows.hpp"

#include <algorithm>

namespace gnnplan::enumerate {
namespace {

constexpr Named<NodeAxis> axes[] = {{NodeAxis::y, "y"}, {NodeAxis::x, "x"}, {NodeAxis::z, "z"}};

// Those that give ranks another order than y does. Without ranks along y, z is the first that has any. The ranks of a
// group follow each other.
std::vector<Named<NodeAxis>> others_on(const Grid& grid) {
    std::vector<Named<NodeAxis>> others;
    if (grid.grouped()) return others;
    if (grid.y * grid.z > 1 && grid.x > 1) others.push_back(axes[1]);
    if (grid.y > 1 && grid.z > 1) others.push_back(axes[2]);
    return others;
}

std::vector<Switches> pinned_axis(const Asked& asked, const Distribution& on, const Switches& so_far) {
    const NodeAxis wanted = asked.pins.node_axis.value_or(NodeAxis::y);
    const std::vector<NodeAxis> others = values_of(others_on(on.grid));
    const bool differs = std::ranges::find(others, wanted) != others.end();
    return with_each(so_far, &Switches::node_axis, {differs ? wanted : NodeAxis::y});
}

std::vector<OtherValue> other_axes(const Asked& asked, const Configuration& chosen) {
    if (!asked.several_nodes) return {};
    std::vector<Named<NodeAxis>> all = others_on(chosen.grid);
    if (!all.empty()) all.insert(all.begin(), axes[0]);
    return all_others(chosen, &Switches::node_axis, all);
}

}  // namespace

std::vector<Switches> on_other_node_axes(const Asked& asked, const Distribution& on, const Switches& switches) {
    std::vector<NodeAxis> values;
    if (asked.several_nodes && !asked.pins.node_axis) values = values_of(others_on(on.grid));
    return with_each(switches, &Switches::node_axis, values);
}

extern const SwitchRow node_axis_row;
const SwitchRow node_axis_row = {"node_axis", [](const Pins& pins) { return pins.node_axis.has_value(); }, pinned_axis,
                                 other_axes};

}  // namespace gnnplan::enumerate
