#include "tools/gnnplan/calibration.hpp"

#include "kernels/table.hpp"
#include "planner/catalog/host.hpp"
#include "planner/catalog/machines.hpp"
#include "planner/io/files.hpp"
#include "planner/io/profile.hpp"
#ifdef GNNPLAN_HAVE_MPI
#include "runtime/comm/mpi.hpp"
#endif
#include "tools/common/version.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>

namespace gnnplan::tools {
namespace {

constexpr const char* built_in = "cpu-node";
#ifdef __clang__
constexpr const char* compiler = __VERSION__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

std::string mpi_text() {
#ifdef GNNPLAN_HAVE_MPI
    return comm::MpiEnvironment::library_version();
#else
    return "";
#endif
}

}  // namespace

std::optional<std::string> calibration_file() {
    const auto folder = [](const char* name) {
        const char* value = std::getenv(name);
        return value == nullptr ? std::string() : std::string(value);
    };
    // A relative $XDG_CACHE_HOME is to be ignored, says the specification.
    if (const std::string cache = folder("XDG_CACHE_HOME"); cache.starts_with('/')) {
        return cache + "/gnnplan/machine.json";
    }
    const std::string home = folder("HOME");
    if (home.empty()) return std::nullopt;
    return home + "/.cache/gnnplan/machine.json";
}

ProfileFingerprint fingerprint_here(bool with_mpi) {
    ProfileFingerprint here;
    here.cpu = catalog::read_host().cpu_model;
    // Not those of this process: mpirun gives each rank its own.
    here.cores = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    if (with_mpi) here.mpi = mpi_text();
    // Products are our own, and change with the version.
    here.kernels = fmt::format("gnnplan {}, {}", version(), kernels::cpu_table().name);
    here.compiler = compiler;
    here.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    return here;
}

std::vector<std::string> stale_reasons(const ProfileFingerprint& then, const ProfileFingerprint& now) {
    std::vector<std::string> reasons;
    const auto compare = [&](const char* what, const std::string& before, const std::string& after) {
        if (before != after) reasons.push_back(fmt::format("{}: {} then, {} now", what, before, after));
    };
    compare("the CPU", then.cpu, now.cpu);
    compare("the number of cores", std::to_string(then.cores), std::to_string(now.cores));
    if (!then.mpi.empty()) compare("MPI", then.mpi, now.mpi);
    compare("the kernels", then.kernels, now.kernels);
    compare("the compiler", then.compiler, now.compiler);
    return reasons;
}

std::optional<Profile> load_calibration(std::vector<std::string>& stale) {
    const std::optional<std::string> file = calibration_file();
    if (!file || !std::filesystem::is_regular_file(*file)) return std::nullopt;
    Profile profile = io::read_profile(io::read_file(*file), *file);
    if (profile.fingerprint) stale = stale_reasons(*profile.fingerprint, fingerprint_here(true));
    return profile;
}

Machine default_machine() {
    try {
        std::vector<std::string> stale;
        if (std::optional<Profile> profile = load_calibration(stale)) {
            if (!stale.empty()) {
                fmt::print(stderr, "warning: the calibration of this machine is stale: {} (run gnnplan calibrate)\n",
                           fmt::join(stale, "; "));
            }
            return std::move(profile->machine);
        }
    } catch (const Error& error) {
        fmt::print(stderr, "warning: {}; planning for {} instead (run gnnplan calibrate)\n", error.what(), built_in);
    }
    return catalog::find_machine(built_in);
}

}  // namespace gnnplan::tools
