#include "tools/advise/calibration.hpp"

#include "kernels/table.hpp"
#include "planner/catalog/host.hpp"
#include "planner/catalog/machines.hpp"
#include "planner/io/files.hpp"
#include "planner/io/profile.hpp"
#ifdef GNNPLAN_HAVE_MPI
#include "runtime/comm/mpi.hpp"
#endif
#include "tools/text/streams.hpp"
#include "tools/text/version.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

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

constexpr std::int64_t old_days = 90;

// 0 where the text is no date of a fingerprint.
std::int64_t days_since(const std::string& date) {
    std::tm then{};
    if (strptime(date.c_str(), "%Y-%m-%dT%H:%M:%SZ", &then) == nullptr) return 0;
    constexpr std::int64_t seconds_of_a_day = 86400;
    return (std::time(nullptr) - timegm(&then)) / seconds_of_a_day;
}

}  // namespace

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

std::vector<KeptCalibration> kept_calibrations() {
    io::KeptCalibrations all = io::read_calibrations();
    for (const std::string& why : all.unreadable) {
        say("warning: {}; it is not used (run gnnplan calibrate)\n", why);
    }
    const ProfileFingerprint here = fingerprint_here(true);
    for (KeptCalibration& kept : all.kept) {
        if (kept.profile.fingerprint) kept.stale = stale_reasons(*kept.profile.fingerprint, here);
    }
    return std::move(all.kept);
}

std::string make_calibration_folder() {
    const std::optional<std::string> folder = io::calibration_folder();
    if (!folder) {
        throw Error(ErrorCode::usage, "neither $XDG_CACHE_HOME nor $HOME says where to keep the calibration", {},
                    "name a file with -o");
    }
    std::error_code failure;
    std::filesystem::create_directories(*folder, failure);
    if (failure) throw Error(ErrorCode::cannot_create, failure.message(), *folder, "name a file with -o");
    return *folder;
}

std::optional<std::string> keep_calibration(const Profile& measured) {
    const std::string file = make_calibration_folder() + "/" + io::calibration_file(measured);
    const std::size_t more = measurements_worth_keeping(file);
    if (more > measured.samples.size()) {
        say("note: this calibration is not kept: {} was made from more measurements ({}, this one from {}) and is not "
            "stale; name another file with -o, or remove that one first\n",
            file, more, measured.samples.size());
        return std::nullopt;
    }
    io::write_file_atomically(file, io::write_profile(measured));
    return file;
}

Machine default_machine(std::int64_t ranks) {
    const std::vector<KeptCalibration> kept = kept_calibrations();
    const KeptCalibration* chosen = calibration_for(ranks, kept);
    if (chosen == nullptr) return catalog::find_machine(built_in);
    if (!chosen->stale.empty()) {
        say("warning: the calibration of this machine is stale: {} (run gnnplan calibrate)\n",
            fmt::join(chosen->stale, "; "));
    } else if (const std::int64_t days = days_since(calibration_date(chosen->profile)); days > old_days) {
        say_notes({fmt::format("the calibration of this machine is {} days old (run gnnplan calibrate)", days)});
    }
    const auto& calibration = chosen->profile.machine.calibration;
    if (calibration && calibration->busy > 0) {
        say_notes(
            {fmt::format("other programs took {:.0f} % of the cores while this machine was calibrated (run gnnplan "
                         "calibrate when it is quiet)",
                         100 * calibration->busy)});
    }
    return chosen->profile.machine;
}

std::vector<std::string> node_notes(const Machine& machine, const std::vector<std::int64_t>& ranks) {
    if (!machine.measured) return {};
    const std::int64_t node = machine.ranks_per_node;
    std::set<std::int64_t> fewer, more, nodes;
    for (const std::int64_t count : ranks) {
        if (count < node) fewer.insert(count);
        if (count <= node) continue;
        more.insert(count);
        nodes.insert((count + node - 1) / node);
    }
    std::vector<std::string> notes;
    if (!fewer.empty()) {
        const std::int64_t most = *fewer.rbegin();
        notes.push_back(fmt::format(
            "the profile is of {} ranks a node, all busy; {} may be faster than predicted: {} "
            "measures so many",
            node, fmt::join(fewer, ", "),
            most == 1 ? "gnnplan calibrate --ranks 1" : fmt::format("mpirun -n {} gnnplan calibrate", most)));
    }
    if (!more.empty()) {
        notes.push_back(
            fmt::format("{} ranks are planned as {} nodes, because the profile was measured with {} ranks on one; to "
                        "measure more on this node: mpirun -n {} gnnplan calibrate",
                        fmt::join(more, ", "), fmt::join(nodes, ", "), node, *more.rbegin()));
    }
    return notes;
}

void say_notes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes) say("note: {}\n", note);
}

}  // namespace gnnplan::tools
