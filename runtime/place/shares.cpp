#include "runtime/place/shares.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <climits>
#include <iterator>
#include <new>

namespace gnnplan::place {
namespace {

int count(const UnitSet& set) { return hwloc_bitmap_weight(set.get()); }

UnitSet copy_of(const UnitSet& set) { return UnitSet(hwloc_bitmap_dup(set.get())); }

// `parts` disjoint sets that together are `set`, which has as many units at least; none empty.
std::vector<UnitSet> split(hwloc_topology_t topology, const UnitSet& set, int parts) {
    hwloc_topology_t copy = nullptr;
    if (hwloc_topology_dup(&copy, topology) != 0) throw std::bad_alloc();
    const Topology part(copy);
    ensure(hwloc_topology_restrict(copy, set.get(), HWLOC_RESTRICT_FLAG_REMOVE_CPULESS) == 0,
           "hwloc cannot restrict a topology");
    std::vector<hwloc_bitmap_t> sets(static_cast<std::size_t>(parts), nullptr);
    hwloc_obj_t root = hwloc_get_root_obj(copy);
    hwloc_distrib(copy, &root, 1, sets.data(), static_cast<unsigned>(parts), INT_MAX, 0);
    return {sets.begin(), sets.end()};
}

// Lists the `number` sets that follow the first `skipped`.
std::vector<std::string> lists_of(const std::vector<UnitSet>& sets, int skipped, int number) {
    std::vector<std::string> lists;
    std::transform(sets.begin() + skipped, sets.begin() + skipped + number, std::back_inserter(lists), list_of);
    return lists;
}

}  // namespace

std::string list_of(const UnitSet& set) {
    const int length = hwloc_bitmap_list_snprintf(nullptr, 0, set.get());
    std::string text(static_cast<std::size_t>(std::max(0, length)), '\0');
    hwloc_bitmap_list_snprintf(text.data(), text.size() + 1, set.get());
    return text;
}

UnitSet parse_list(const std::string& list) {
    UnitSet set(hwloc_bitmap_alloc());
    ensure(hwloc_bitmap_list_sscanf(set.get(), list.c_str()) == 0, "hwloc cannot read a list of processing units");
    return set;
}

std::vector<std::string> shares(hwloc_topology_t topology, const std::string& allowed, const Team& team) {
    const int ranks = team.ranks;
    const int threads = team.threads;
    UnitSet units = parse_list(allowed);
    hwloc_bitmap_and(units.get(), units.get(), hwloc_topology_get_topology_cpuset(topology));
    if (count(units) / threads < ranks) return {};
    UnitSet one_per_core = copy_of(units);
    hwloc_bitmap_singlify_per_core(topology, one_per_core.get(), 0);
    if (count(one_per_core) / threads >= ranks) units = std::move(one_per_core);

    const std::vector<UnitSet> parts = split(topology, units, ranks);
    if (std::all_of(parts.begin(), parts.end(), [&](const UnitSet& part) { return count(part) >= threads; })) {
        return lists_of(split(topology, parts[static_cast<std::size_t>(team.rank)], threads), 0, threads);
    }
    // Whole ranks do not fit the NUMA nodes, but their threads do.
    return lists_of(split(topology, units, ranks * threads), team.rank * threads, threads);
}

}  // namespace gnnplan::place
