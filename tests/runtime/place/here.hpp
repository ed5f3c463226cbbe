// Where the calling thread may run, as the system tells it: without hwloc, to check what hwloc was asked to do.
#pragma once

#include <sched.h>

#include <string>

namespace gnnplan::testing {

inline cpu_set_t affinity() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof mask, &mask);
    return mask;
}

inline int units_here() {
    const cpu_set_t mask = affinity();
    return CPU_COUNT(&mask);
}

// "0,1,4"
inline std::string list_here() {
    const cpu_set_t mask = affinity();
    std::string list;
    for (std::size_t unit = 0; unit < CPU_SETSIZE; ++unit) {
        if (CPU_ISSET(unit, &mask)) list += (list.empty() ? "" : ",") + std::to_string(unit);
    }
    return list;
}

}  // namespace gnnplan::testing
