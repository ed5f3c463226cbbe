#include "tools/advise/sweep/sweep_link.hpp"

namespace gnnplan::tools {

void set_bandwidth(Machine& machine, Link& link, double bytes_per_second) {
    const double ratio = bytes_per_second / link.bytes_per_second;
    if (&link == &machine.inter_node && machine.network_cards) machine.network_cards->bytes_per_second *= ratio;
    if (&link == &machine.intra_node && machine.all_to_all) machine.all_to_all->bytes_per_second *= ratio;
    link.bytes_per_second = bytes_per_second;
    link.segments.clear();
    if (&link != &machine.intra_node || !machine.calibration) return;
    for (auto* measured : {&machine.calibration->all_reduce, &machine.calibration->reduce_scatter,
                           &machine.calibration->redistribution}) {
        measured->reset();
    }
    machine.calibration->lent_panel_seconds.reset();
}

Link& slowest_link(Machine& machine, std::int64_t ranks) {
    return ranks > machine.ranks_per_node ? machine.inter_node : machine.intra_node;
}

const char* slowest_link_name(const Machine& machine, std::int64_t ranks) {
    return ranks > machine.ranks_per_node ? "inter_node" : "intra_node";
}

}  // namespace gnnplan::tools
