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

// The number in a file; unset where there is none, such as "max".
std::optional<std::int64_t> number_in(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::int64_t number = 0;
    if (stream >> number && number > 0) return number;
    return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> parse_memory_limit(std::istream& membership, const std::filesystem::path& root) {
    std::optional<std::int64_t> least;
    std::string line;
    while (std::getline(membership, line)) {  // "0::/user.slice", "9:memory:/docker/12ab"
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const bool unified = controllers.empty();
        if (!unified && controllers != "memory") continue;
        const std::filesystem::path mount = unified ? root : root / "memory";
        const char* limit = unified ? "memory.max" : "memory.limit_in_bytes";
        std::filesystem::path group = std::filesystem::path(line.substr(second + 1)).relative_path();
        while (true) {  // the groups around it limit it, too
            if (const auto bytes = number_in(mount / group / limit)) least = std::min(least.value_or(*bytes), *bytes);
            if (group.empty()) break;
            group = group.parent_path();
        }
    }
    return least;
}

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
    std::ifstream membership("/proc/self/cgroup");
    const std::int64_t installed = parse_memory_total(meminfo);
    const std::int64_t limit = parse_memory_limit(membership, "/sys/fs/cgroup").value_or(installed);
    return {available_cores(), std::min(installed, limit), parse_cpu_model(cpuinfo)};
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
