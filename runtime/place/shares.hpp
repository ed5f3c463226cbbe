// Processing units shared out among threads: a function of the topology alone.
#pragma once

#include "runtime/place/hwloc.hpp"

#include <string>
#include <vector>

namespace gnnplan::place {

// Ranks that share units, which of them is meant, and the threads of each.
struct Team {
    int ranks = 1;
    int rank = 0;
    int threads = 1;
};

// Sets of units as lists, "0-3,8", the numbers being the operating system's.
std::string list_of(const UnitSet& set);
UnitSet parse_list(const std::string& list);

// The units of each thread of `team.rank`, all of `allowed` being shared out: neighbouring ranks and the threads of a
// rank lie close to each other, and a rank is in one NUMA node where that is possible. A thread gets several units
// where there are more than threads, so that it can make way for other programs. Second hardware threads of cores are
// left out while there are cores enough. Empty when there are fewer units than threads.
std::vector<std::string> shares(hwloc_topology_t topology, const std::string& allowed, const Team& team);

}  // namespace gnnplan::place
