#include "runtime/calibrate/load.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>
#include <string>

namespace gnnplan::calibrate {
namespace {

// From a line "cpu3 user nice system idle iowait irq softirq steal ..." of /proc/stat, in ticks. Time that a hypervisor
// took was taken by others, too.
double busy_ticks(std::istringstream& columns) {
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft_irq = 0, steal = 0;
    columns >> user >> nice >> system >> idle >> waiting >> irq >> soft_irq >> steal;
    return user + nice + system + irq + soft_irq + steal;
}

std::vector<double> read_busy_seconds() {
    const double ticks = static_cast<double>(std::max(1L, sysconf(_SC_CLK_TCK)));
    std::vector<double> busy;
    std::ifstream stat("/proc/stat");
    for (std::string line; std::getline(stat, line);) {
        std::istringstream columns(line);
        std::string name;
        columns >> name;
        if (!name.starts_with("cpu") || name.size() == 3) continue;
        const auto core = static_cast<std::size_t>(std::stoul(name.substr(3)));
        busy.resize(std::max(busy.size(), core + 1));
        busy[core] = busy_ticks(columns) / ticks;
    }
    return busy;
}

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// The cores that the ranks of a node may run on, all together.
std::set<int> all_cores(comm::Communicator& node, const std::vector<int>& own) {
    std::string text;
    for (const int core : own) text += std::to_string(core) + " ";
    std::set<int> cores;
    for (const std::string& other : node.control_all_gather(text)) {
        std::istringstream numbers(other);
        for (int core = 0; numbers >> core;) cores.insert(core);
    }
    return cores;
}

// On all of `cores` together.
double busy_between(const std::set<int>& cores, const LoadReading& before, const LoadReading& after) {
    double seconds = 0;
    for (const int core : cores) {
        const auto i = static_cast<std::size_t>(core);
        if (i < before.busy_seconds.size() && i < after.busy_seconds.size()) {
            seconds += after.busy_seconds[i] - before.busy_seconds[i];
        }
    }
    return seconds;
}

}  // namespace

SystemLoad::SystemLoad() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &allowed)) cores_.push_back(core);
    }
}

LoadReading SystemLoad::read() {
    using Seconds = std::chrono::duration<double>;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return {Seconds(std::chrono::steady_clock::now().time_since_epoch()).count(), read_busy_seconds(), cores_,
            seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), usage.ru_nivcsw};
}

Load load_between(comm::Communicator& comm, const Nodes& nodes, bool processes, const LoadReading& before,
                  const LoadReading& after) {
    const std::vector<double> own = gather_values(*nodes.own, after.own_seconds - before.own_seconds);
    const double ours = processes ? std::accumulate(own.begin(), own.end(), 0.0) : std::ranges::max(own);
    const std::set<int> cores = all_cores(*nodes.own, after.cores);
    const double wall = after.wall_seconds - before.wall_seconds;
    const auto count = static_cast<double>(cores.size());
    const double possible = std::max(wall * count, 1e-9);
    const double others = std::clamp((busy_between(cores, before, after) - ours) / possible, 0.0, 1.0);
    const double preempted = static_cast<double>(after.preempted - before.preempted) / std::max(wall, 1e-9);
    Load load;
    load.others = comm::control_max(comm, others);
    load.preempted = comm::control_max(comm, preempted);
    load.cores = static_cast<int>(comm::control_max(comm, load.others == others ? count : 0));
    return load;
}

}  // namespace gnnplan::calibrate
