#include "tools/ask/calibration.hpp"

#include "kernels/table.hpp"
#include "planner/catalog/host.hpp"
#include "planner/io/files.hpp"
#include "planner/io/profile.hpp"
#ifdef GNNPLAN_HAVE_MPI
#include "runtime/comm/mpi.hpp"
#endif
#include "tools/text/version.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

namespace gnnplan::tools {
namespace {

#ifdef __clang__
constexpr const char* compiler = __VERSION__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

std::string kernels_text(const std::string& table) { return fmt::format("gnnplan {}, {}", version(), table); }

KeptCalibration read_kept(const std::string& file, const ProfileFingerprint& here) {
    KeptCalibration kept = io::read_calibration(file);
    if (kept.profile.fingerprint) kept.stale = stale_reasons(*kept.profile.fingerprint, here);
    return kept;
}

// Number of samples in `file`, or 0 if it is missing, stale or unreadable.
std::size_t measurements_worth_keeping(const std::string& file) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(file, none)) return 0;
    try {
        const KeptCalibration kept = read_kept(file, fingerprint_here(true));
        return kept.stale.empty() ? kept.profile.samples.size() : 0;
    } catch (const Error&) {
        return 0;
    }
}

}  // namespace

std::string mpi_library() {
#ifdef GNNPLAN_HAVE_MPI
    return comm::MpiEnvironment::library_version();
#else
    return "";
#endif
}

ProfileFingerprint fingerprint_here(bool with_mpi, const std::string& table) {
    ProfileFingerprint here;
    here.cpu = catalog::read_host().cpu_model;
    // Not those of this process: mpirun gives each rank its own.
    here.cores = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    if (with_mpi) here.mpi = mpi_library();
    // Products are our own, and change with the version.
    here.kernels = kernels_text(table.empty() ? kernels::cpu_table().name : table);
    here.compiler = compiler;
    here.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    return here;
}

std::vector<std::string> stale_reasons(const ProfileFingerprint& then, const ProfileFingerprint& now,
                                       bool of_this_node) {
    std::vector<std::string> reasons;
    const auto compare = [&](const char* what, const std::string& before, const std::string& after) {
        if (before != after) reasons.push_back(fmt::format("{}: {} then, {} now", what, before, after));
    };
    if (!then.mpi.empty()) compare("MPI", then.mpi, now.mpi);
    if (then.device) {
        compare("the kernels", then.kernels, kernels_text(io::device_machine));
        return reasons;
    }
    if (!of_this_node) {
        // "gnnplan 0.1.0, avx512": the second depends on the processor.
        if (!then.kernels.starts_with(kernels_text(""))) compare("the kernels", then.kernels, kernels_text("..."));
        compare("the compiler", then.compiler, now.compiler);
        return reasons;
    }
    compare("the CPU", then.cpu, now.cpu);
    compare("the number of cores", std::to_string(then.cores), std::to_string(now.cores));
    compare("the kernels", then.kernels, now.kernels);
    compare("the compiler", then.compiler, now.compiler);
    return reasons;
}

// 0 where the text is no date of a fingerprint.
std::int64_t days_since(const std::string& date) {
    std::tm then{};
    if (strptime(date.c_str(), "%Y-%m-%dT%H:%M:%SZ", &then) == nullptr) return 0;
    constexpr std::int64_t seconds_of_a_day = 86400;
    return (std::time(nullptr) - timegm(&then)) / seconds_of_a_day;
}

std::vector<KeptCalibration> kept_probes() {
    std::vector<KeptCalibration> kept = io::read_probes().kept;
    const ProfileFingerprint here = fingerprint_here(false);
    for (KeptCalibration& one : kept) {
        if (!one.profile.fingerprint) continue;
        one.stale = stale_reasons(*one.profile.fingerprint, here);
        if (days_since(calibration_date(one.profile)) >= 1) one.stale.emplace_back("it is older than a day");
    }
    return kept;
}

KeptCalibrations kept_calibrations(const std::string& name) {
    io::KeptCalibrations read = io::read_calibrations(name);
    KeptCalibrations kept{std::move(read.kept), {}};
    for (const std::string& why : read.unreadable) {
        kept.warnings.push_back(fmt::format("warning: {}; it is not used (run `calibrate/`)", why));
    }
    const ProfileFingerprint here = fingerprint_here(true);
    for (KeptCalibration& one : kept.all) {
        if (one.profile.fingerprint) one.stale = stale_reasons(*one.profile.fingerprint, here, name.empty());
    }
    return kept;
}

std::string make_calibration_folder(const std::string& name) {
    const std::optional<std::string> folder = io::calibration_folder(name);
    if (!folder) {
        throw Error(ErrorCode::usage, "neither $XDG_CACHE_HOME nor $HOME says where to keep the calibration", {},
                    "name a file with -o");
    }
    std::error_code failure;
    std::filesystem::create_directories(*folder, failure);
    if (failure) throw Error(ErrorCode::cannot_create, failure.message(), *folder, "name a file with -o");
    return *folder;
}

std::string set_aside(const Profile& measured, const std::optional<std::string>& output, const std::string& name) {
    std::string file;
    if (output) {
        file = *output + ".aside";
    } else {
        const std::filesystem::path folder = make_calibration_folder(name) + "/aside";
        std::error_code failure;
        std::filesystem::create_directories(folder, failure);  // writing says what is wrong
        file = (folder / io::calibration_file(measured)).string();
    }
    io::write_file_atomically(file, io::write_profile(measured));
    return file;
}

Keeping keep_calibration(const Profile& measured, const std::string& name) {
    const std::string file = make_calibration_folder(name) + "/" + io::calibration_file(measured);
    const std::size_t more = measurements_worth_keeping(file);
    if (more > measured.samples.size()) {
        return {std::nullopt,
                fmt::format("{} stays, as it was made from more measurements ({}, this one from {}) and is not stale; "
                            "this one is set aside: {}",
                            file, more, measured.samples.size(), set_aside(measured, std::nullopt, name))};
    }
    io::write_file_atomically(file, io::write_profile(measured));
    return {file, ""};
}

}  // namespace gnnplan::tools
