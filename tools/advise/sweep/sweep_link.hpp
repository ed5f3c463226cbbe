// The links of a machine whose bandwidth a sweep varies.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <cstdint>

namespace gnnplan::tools {

// Every message of this link of `machine` at the one rate, whatever was measured of it; what network cards carry, and
// exchanges among all ranks of a node, in proportion.
void set_bandwidth(Machine& machine, Link& link, double bytes_per_second);

// The link that the slowest messages of `ranks` ranks take: between nodes where they are on several.
Link& slowest_link(Machine& machine, std::int64_t ranks);
const char* slowest_link_name(const Machine& machine, std::int64_t ranks);  // "intra_node" or "inter_node"

}  // namespace gnnplan::tools
