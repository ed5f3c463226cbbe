#include "planner/catalog/host.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

namespace gnnplan::catalog {
namespace {

// The scheduler's mask rather than the number of processors: containers and batch systems hand out a part of a node.
int available_cores() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) == 0) return std::max(1, CPU_COUNT(&mask));
    return std::max(1, checked_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

std::int64_t parse_memory_total(std::istream& meminfo) {
    std::string line;
    while (std::getline(meminfo, line)) {
        std::istringstream words(line);
        std::string key;
        std::int64_t kibibytes = 0;
        if (words >> key && key == "MemTotal:" && words >> kibibytes && kibibytes > 0) {
            return checked_multiply(kibibytes, 1024);
        }
    }
    throw Error(ErrorCode::unavailable, "the system does not tell its memory", "/proc/meminfo",
                "name a machine with --machine");
}

std::string parse_cpu_model(std::istream& cpuinfo) {
    std::string line;
    while (std::getline(cpuinfo, line)) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos || !line.starts_with("model name")) continue;
        const std::size_t first = line.find_first_not_of(" \t", colon + 1);
        return first == std::string::npos ? "" : line.substr(first);
    }
    return "";
}

int parse_physical_cores(std::istream& cpuinfo) {
    std::set<std::pair<std::string, std::string>> cores;  // package and core within it
    std::string line;
    std::string package;
    while (std::getline(cpuinfo, line)) {
        if (line.starts_with("physical id")) package = line;
        if (line.starts_with("core id")) cores.emplace(package, line);
    }
    return checked_cast<int>(cores.size());
}

int physical_cores() {
    std::ifstream cpuinfo("/proc/cpuinfo");
    const int physical = parse_physical_cores(cpuinfo);
    return physical > 0 ? std::min(physical, available_cores()) : available_cores();
}

Host read_host() {
    std::ifstream meminfo("/proc/meminfo");
    std::ifstream cpuinfo("/proc/cpuinfo");
    return {available_cores(), parse_memory_total(meminfo), parse_cpu_model(cpuinfo)};
}

Machine machine_of(const Machine& base, const Host& host) {
    Machine machine = base;
    machine.name = "detected";
    machine.measured = false;
    machine.ranks_per_node = host.cores;
    machine.memory_per_rank = host.memory_bytes / host.cores;
    machine.source = "cores and memory of this machine (" + (host.cpu_model.empty() ? "unknown CPU" : host.cpu_model) +
                     ", " + std::to_string(host.cores) +
                     " cores), one rank per core; rates and links of a rank as in " + base.name + ", not measured here";
    return machine;
}

}  // namespace gnnplan::catalog
