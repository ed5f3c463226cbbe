// Owners of hwloc's objects.
#pragma once

#include <hwloc.h>

#include <memory>

namespace gnnplan::place {

struct Destroy {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
    void operator()(hwloc_bitmap_s* set) const { hwloc_bitmap_free(set); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;
using UnitSet = std::unique_ptr<hwloc_bitmap_s, Destroy>;

}  // namespace gnnplan::place
