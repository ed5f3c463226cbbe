#include "planner/catalog/host.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace gnnplan::catalog {
namespace {

constexpr const char* cgroups = "/sys/fs/cgroup";

// The units in the scheduler's mask, rather than all processors: containers and batch systems hand out a part of a
// node. The list is empty where the system does not tell.
std::vector<int> units_of_mask() {
    std::vector<int> units;
    constexpr int most = 1 << 16;
    for (int size = CPU_SETSIZE; size <= most; size *= 2) {  // the system refuses masks shorter than its own
        cpu_set_t* mask = CPU_ALLOC(size);
        if (mask == nullptr) break;
        const std::size_t bytes = CPU_ALLOC_SIZE(size);
        const bool told = sched_getaffinity(0, bytes, mask) == 0;
        for (int unit = 0; told && unit < size; ++unit)
            if (CPU_ISSET_S(unit, bytes, mask)) units.push_back(unit);
        CPU_FREE(mask);
        if (told) break;
    }
    return units;
}

int units_allowed() {
    const std::vector<int> units = units_of_mask();
    return units.empty() ? std::max(1, checked_cast<int>(std::thread::hardware_concurrency()))
                         : checked_cast<int>(units.size());
}

// The CPU quota of this process's cgroups as a number of processing units, rounded up: half a unit gives one thread.
std::optional<int> units_of_quota() {
    std::ifstream membership("/proc/self/cgroup");
    const std::optional<double> quota = parse_cpu_quota(membership, cgroups);
    if (!quota || *quota > std::numeric_limits<int>::max()) return std::nullopt;
    return std::max(1, static_cast<int>(std::ceil(*quota)));
}

// The number in a file; unset where there is none, such as "max".
std::optional<std::int64_t> number_in(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::int64_t number = 0;
    if (stream >> number && number > 0) return number;
    return std::nullopt;
}

// Version 2 has "QUOTA PERIOD" in one file, where "max" is no quota; version 1 has two files, where -1 is no quota.
std::optional<double> quota_of(const std::filesystem::path& group, bool unified) {
    std::optional<std::int64_t> quota;
    std::optional<std::int64_t> period;
    if (unified) {
        std::ifstream stream(group / "cpu.max");
        std::int64_t both[2] = {};
        if (stream >> both[0] >> both[1] && both[0] > 0 && both[1] > 0) quota = both[0], period = both[1];
    } else {
        quota = number_in(group / "cpu.cfs_quota_us");
        period = number_in(group / "cpu.cfs_period_us");
    }
    if (!quota || !period) return std::nullopt;
    return static_cast<double>(*quota) / static_cast<double>(*period);
}

// The smallest `limit_of(group, unified)` over the process's groups of one controller and over the groups around them,
// which limit it, too. A container may not see the folders above its own group, which it then sees as the top.
template <class Limit>
auto least_limit(std::istream& membership, const std::filesystem::path& root, std::string_view controller,
                 const Limit& limit_of) {
    decltype(limit_of(root, true)) least;
    for (std::string line; std::getline(membership, line);) {  // "0::/user.slice", "9:cpu,cpuacct:/docker/12ab"
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        const bool unified = controllers == ",,";
        if (!unified && controllers.find("," + std::string(controller) + ",") == std::string::npos) continue;
        const std::filesystem::path mount = unified ? root : root / controller;
        std::filesystem::path group = std::filesystem::path(line.substr(second + 1)).relative_path();
        while (true) {
            if (const auto limit = limit_of(mount / group, unified)) least = std::min(least.value_or(*limit), *limit);
            if (group.empty()) break;
            group = group.parent_path();
        }
    }
    return least;
}

}  // namespace

std::optional<std::int64_t> parse_memory_limit(std::istream& membership, const std::filesystem::path& root) {
    return least_limit(membership, root, "memory", [](const std::filesystem::path& group, bool unified) {
        return number_in(group / (unified ? "memory.max" : "memory.limit_in_bytes"));
    });
}

std::optional<double> parse_cpu_quota(std::istream& membership, const std::filesystem::path& root) {
    return least_limit(membership, root, "cpu", quota_of);
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
                "name a machine with `machine`");
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

int available_units() { return threads_of_rank(1, 1); }

int threads_of_rank(int ranks_here, int ranks_on_own_units) {
    const int units = units_allowed();
    return std::max(1, std::min(units / ranks_on_own_units, units_of_quota().value_or(units) / ranks_here));
}

std::string processing_units() {
    std::string text;
    for (const int unit : units_of_mask()) text += std::to_string(unit) + " ";
    return text;
}

int physical_cores() {
    std::ifstream cpuinfo("/proc/cpuinfo");
    const int physical = parse_physical_cores(cpuinfo);
    const int allowed = available_units();
    return physical > 0 ? std::min(physical, allowed) : allowed;
}

Host read_host() {
    std::ifstream meminfo("/proc/meminfo");
    std::ifstream cpuinfo("/proc/cpuinfo");
    std::ifstream membership("/proc/self/cgroup");
    const std::int64_t installed = parse_memory_total(meminfo);
    const std::int64_t limit = parse_memory_limit(membership, cgroups).value_or(installed);
    return {available_units(), std::min(installed, limit), parse_cpu_model(cpuinfo)};
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
