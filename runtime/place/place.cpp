// Reading guide: every rank tells the others where it may run; those with the same units of the same machine share
// them out, each by itself, because all compute the same shares.
#include "runtime/place/place.hpp"

#include "kernels/table.hpp"

#ifdef GNNPLAN_HWLOC
#include "runtime/comm/launch.hpp"
#include "runtime/comm/launcher.hpp"
#include "runtime/comm/room.hpp"
#include "runtime/place/shares.hpp"

#include <gnnplan/base/option.hpp>

#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#endif

namespace gnnplan::place {

#ifdef GNNPLAN_HWLOC
namespace {

// The variable by which the user has told OpenMP where threads go, or null.
const char* openmp_variable() {
    constexpr std::array names{"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
    const auto* set =
        std::find_if(names.begin(), names.end(), [](const char* name) { return std::getenv(name) != nullptr; });
    return set == names.end() ? nullptr : *set;
}

// Null where the system does not tell.
Topology this_machine() {
    static std::mutex one_at_a_time;  // so that ranks as threads do not take the room from each other
    const std::lock_guard lock(one_at_a_time);
    // hwloc crashes when memory runs out while it looks around; its plugins alone take 40 MiB of addresses.
    comm::require_room(std::size_t{64} << 20);
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) return nullptr;
    Topology owned(topology);
    // By default it visits every unit to ask the processor.
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
    return hwloc_topology_load(topology) == 0 ? std::move(owned) : nullptr;
}

// The units that the calling thread may run on; none where the system does not tell. `topology` may be null.
UnitSet own_units(hwloc_topology_t topology) {
    UnitSet units(hwloc_bitmap_alloc());
    const bool known = topology != nullptr && hwloc_get_cpubind(topology, units.get(), HWLOC_CPUBIND_THREAD) == 0;
    if (!known) hwloc_bitmap_zero(units.get());
    return units;
}

// Names the kernel whose units this rank runs on, so that ranks find out who has the same ones. A kernel may have
// several nodes, where MPI started a daemon in each container or network namespace; they share its units all the same.
std::string owner_of_units(const comm::Communicator& comm) {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id.empty() ? "node " + std::to_string(comm.nodes()[static_cast<std::size_t>(comm.rank())]) : id;
}

bool bind_caller(hwloc_topology_t topology, const std::string& units) {
    return hwloc_set_cpubind(topology, parse_list(units).get(), HWLOC_CPUBIND_THREAD) == 0;
}

// Binds the calling thread and the workers of its OpenMP team. False if the system refuses.
bool bind_team(hwloc_topology_t topology, const std::vector<std::string>& units) {
#ifdef _OPENMP
    bool bound = true;
#pragma omp parallel num_threads(static_cast <int>(units.size())) reduction(&& : bound)
    bound = bind_caller(topology, units[static_cast<std::size_t>(omp_get_thread_num())]);
    return bound;
#else
    return bind_caller(topology, units.front());
#endif
}

// The binding of one rank, and in `note` why there is none.
struct Attempt {
    std::vector<std::string> units = {};  // by thread; empty: not bound
    std::string note = {};
    bool warning = false;
};

// A launcher or a mask left the rank too few units; says what to do.
Attempt too_few(const UnitSet& own, int threads) {
    const std::string number = std::to_string(threads);
    const std::string units = std::to_string(hwloc_bitmap_weight(own.get()));
    const std::string hint = comm::launched_by_mpi() ? comm::wider_ranks(comm::launcher_here(), threads)
                                                     : option_text("threads", units) + ", or a wider mask";
    return {.note = "a rank of " + number + " threads may run on fewer processing units, " + list_of(own) +
                    ", so that they wait for each other: use " + hint,
            .warning = true};
}

Attempt attempt(hwloc_topology_t topology, const UnitSet& own, const Team& team) {
    if (const char* name = openmp_variable())
        return {.note = std::string("threads are not bound: OpenMP is told where by ") + name};
    const int units = hwloc_bitmap_weight(own.get());
    if (units == 0) return {.note = "threads are not bound: the system does not tell where they may run"};
    if (units < team.threads && units < hwloc_bitmap_weight(hwloc_topology_get_topology_cpuset(topology))) {
        return too_few(own, team.threads);
    }
    std::vector<std::string> mine = shares(topology, list_of(own), team);
    if (mine.empty()) {
        return {.note =
                    "threads are not bound: there are more of them than processing units, so they take turns, and "
                    "everything takes longer than predicted",
                .warning = true};
    }
    if (!bind_team(topology, mine)) return {.note = "threads are not bound: the system refuses"};
    return {.units = std::move(mine)};
}

// Collective. The ranks that share the caller's units, and which of them it is.
Team find_team(comm::Communicator& comm, const UnitSet& own, int threads) {
    const std::string here = owner_of_units(comm) + " " + list_of(own);
    const std::vector<std::string> ranks = comm.control_all_gather(here);
    const auto own_place = ranks.begin() + comm.rank();
    return {static_cast<int>(std::count(ranks.begin(), ranks.end(), here)),
            static_cast<int>(std::count(ranks.begin(), own_place, here)), threads};
}

UnitSet all_of(const std::vector<std::string>& lists) {
    UnitSet all(hwloc_bitmap_alloc());
    for (const std::string& list : lists) hwloc_bitmap_or(all.get(), all.get(), parse_list(list).get());
    return all;
}

std::string joined(const std::vector<std::string>& texts, const std::string& separator) {
    std::string all = texts.front();
    for (std::size_t i = 1; i < texts.size(); ++i) all += separator + texts[i];
    return all;
}

}  // namespace

Placement bind_threads(comm::Communicator& comm, int threads) {
    kernels::set_threads(threads);
#ifndef _OPENMP
    threads = 1;
#endif
    const Topology topology = this_machine();
    const UnitSet own = own_units(topology.get());
    const Attempt mine = attempt(topology.get(), own, find_team(comm, own, threads));
    Placement placement;
    placement.ranks = comm.control_all_gather(mine.units.empty() ? "" : joined(mine.units, " "));
    if (!mine.units.empty()) placement.units = list_of(own);
    if (!mine.units.empty()) placement.free_units = hwloc_bitmap_weight(all_of(mine.units).get()) - threads;
    const std::vector<std::string> warnings = comm.control_all_gather(mine.warning ? mine.note : "");
    const auto warning = std::find_if(warnings.begin(), warnings.end(), [](const auto& text) { return !text.empty(); });
    placement.warning = warning != warnings.end();
    placement.note = placement.warning    ? *warning
                     : mine.units.empty() ? mine.note
                                          : "threads run on processing units " + joined(placement.ranks, " | ");
    return placement;
}

Unbound::Unbound(const Placement& placement) {
    if (placement.units.empty()) return;
    const Topology topology = this_machine();
    bound_ = list_of(own_units(topology.get()));
    bind_caller(topology.get(), placement.units);
}

Unbound::~Unbound() {
    if (!bound_.empty()) bind_caller(this_machine().get(), bound_);
}

void work_beside(const Placement& placement, int rank) {
    kernels::set_threads(placement.free_units);
    std::istringstream lists(placement.ranks[static_cast<std::size_t>(rank)]);
    const std::vector<std::string> units{std::istream_iterator<std::string>(lists), {}};
    const Topology topology = this_machine();
    bind_caller(topology.get(), list_of(all_of(units)));
}

#else

Placement bind_threads(comm::Communicator& comm, int threads) {
    kernels::set_threads(threads);
    return {std::vector<std::string>(static_cast<std::size_t>(comm.size())),
            "threads are not bound: built without hwloc"};
}

Unbound::Unbound(const Placement&) {}
Unbound::~Unbound() = default;

void work_beside(const Placement&, int) { kernels::set_threads(1); }

#endif

}  // namespace gnnplan::place
