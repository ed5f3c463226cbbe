// The operating system's description of the machine that we are on.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

namespace gnnplan::catalog {

struct Host {
    int cores = 1;                  // available_units()
    std::int64_t memory_bytes = 0;  // that this process and those beside it may use: installed, or what a cgroup allows
    std::string cpu_model;          // "" when the system does not say
};

// The total of a /proc/meminfo, in bytes. Throws Error{unavailable} without a usable MemTotal line.
std::int64_t parse_memory_total(std::istream& meminfo);

// The least that the memory cgroups of a process allow, in bytes, of version 1 or 2: `membership` is its
// /proc/PID/cgroup, `root` where cgroups are mounted. Unset: they set no limit.
std::optional<std::int64_t> parse_memory_limit(std::istream& membership, const std::filesystem::path& root);

// The smallest CPU quota of a process's cgroups, as a number of processing units; the arguments are the same. Unset:
// there is no quota.
std::optional<double> parse_cpu_quota(std::istream& membership, const std::filesystem::path& root);

// The first "model name" of a /proc/cpuinfo, or "".
std::string parse_cpu_model(std::istream& cpuinfo);

// How many cores the processors of a /proc/cpuinfo share; 0 when it does not say.
int parse_physical_cores(std::istream& cpuinfo);

Host read_host();

// Processing units that this process may run on, by its mask, and at most what its cgroups' quota of CPU time is worth,
// rounded up. At least 1.
int available_units();

// The default number of threads of a rank: its share of the units that `ranks_on_own_units` ranks may run on, and at
// most its share of the CPU quota, which is divided among all `ranks_here` of this machine. At least 1.
int threads_of_rank(int ranks_here, int ranks_on_own_units);

// The units of this process's mask as a list of numbers, for comparing it with that of other processes.
std::string processing_units();

// Cores this process may run on, hardware threads of one core counted once where the system tells.
int physical_cores();

// `host` with one rank per core, memory shared evenly, and the rates and links of one rank of `base`.
Machine machine_of(const Machine& base, const Host& host);

}  // namespace gnnplan::catalog
