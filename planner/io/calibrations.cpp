#include "planner/io/calibrations.hpp"

#include "planner/io/files.hpp"
#include "planner/io/profile.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/io.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

namespace gnnplan::io {
namespace {

// The kind, and what the ranks were, between these.
constexpr const char* calibration_prefix = "machine-";
constexpr const char* probe_prefix = "probe-";
constexpr const char* calibration_suffix = ".json";
constexpr const char* named_folder = "/named/";

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

std::vector<std::string> files_of(const std::string& folder, const std::string& prefix) {
    std::error_code nothing_there;
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder, nothing_there)) {
        const std::string name = entry.path().filename().string();
        if (!entry.is_regular_file(nothing_there)) continue;  // a pipe would be waited for
        if (name.starts_with(prefix) && name.ends_with(calibration_suffix)) files.push_back(entry.path().string());
    }
    return files;
}

}  // namespace

std::optional<std::string> calibration_folder(const std::string& name) {
    const std::string below = name.empty() ? "" : named_folder + name;
    // A relative $XDG_CACHE_HOME is to be ignored, says the specification.
    if (const std::string cache = variable("XDG_CACHE_HOME"); cache.starts_with('/')) return cache + "/gnnplan" + below;
    const std::string home = variable("HOME");
    if (home.empty()) return std::nullopt;
    return home + "/.cache/gnnplan" + below;
}

std::vector<std::string> calibration_names() {
    std::vector<std::string> names;
    const std::optional<std::string> folder = calibration_folder();
    if (!folder) return names;
    std::error_code nothing_there;
    for (const auto& entry : std::filesystem::directory_iterator(*folder + named_folder, nothing_there))
        if (entry.is_directory(nothing_there)) names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

void check_calibration_name(const std::string& name, const std::vector<std::string>& presets) {
    const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-'; };
    const bool word = !name.empty() && std::isalnum(static_cast<unsigned char>(name.front())) != 0 &&
                      std::ranges::all_of(name, allowed) && !name.ends_with(calibration_suffix);
    if (!word) {
        throw Error(ErrorCode::usage, "'" + name + "' is no name for a calibration", "`name`",
                    "letters, digits, '.', '_' and '-', as genoa");
    }
    if (name == device_machine || std::ranges::find(presets, name) != presets.end())
        throw Error(ErrorCode::usage, "'" + name + "' is the name of a machine that is there", "`name`",
                    "take another");
}

int calibration_threads(const Profile& profile) {
    const auto& calibration = profile.machine.calibration;
    return profile.fingerprint ? profile.fingerprint->threads : calibration ? calibration->threads.value_or(1) : 1;
}

std::string calibration_kind(const Profile& profile) {
    return std::to_string(profile.machine.ranks_per_node) + "x" + std::to_string(calibration_threads(profile));
}

std::string calibration_ranks(const Profile& profile) {
    const auto& calibration = profile.machine.calibration;
    const auto named = [](bool processes) { return processes ? "processes" : "threads"; };
    if (calibration && calibration->processes) return named(*calibration->processes);
    return profile.fingerprint ? named(!profile.fingerprint->mpi.empty()) : "";
}

std::string calibration_file(const Profile& profile) {
    const std::string ranks = calibration_ranks(profile);
    const std::string devices = profile.machine.accelerators ? "-devices" : "";
    return calibration_prefix + calibration_kind(profile) + devices + (ranks.empty() ? "" : "-" + ranks) +
           calibration_suffix;
}

std::string probe_file(const Profile& profile) { return probe_prefix + calibration_kind(profile) + calibration_suffix; }

std::string calibration_date(const Profile& profile) { return profile.fingerprint ? profile.fingerprint->date : ""; }

// Older files have what their ranks were in the fingerprint only, which plans do not carry.
KeptCalibration read_calibration(const std::string& file) {
    KeptCalibration kept{file, read_profile(read_file(file), file)};
    auto& calibration = kept.profile.machine.calibration;
    const auto& fingerprint = kept.profile.fingerprint;
    if (calibration && !calibration->processes && fingerprint) calibration->processes = !fingerprint->mpi.empty();
    return kept;
}

namespace {

KeptCalibrations read_profiles(const std::string& prefix, const std::string& name = {}) {
    const std::optional<std::string> folder = calibration_folder(name);
    KeptCalibrations all;
    if (!folder) return all;
    for (const std::string& file : files_of(*folder, prefix)) {
        try {
            all.kept.push_back(read_calibration(file));
            all.kept.back().name = name;
        } catch (const Error& error) {
            all.unreadable.emplace_back(error.what());
        }
    }
    const auto place = [](const KeptCalibration& k) { return std::pair(k.profile.machine.ranks_per_node, k.file); };
    std::ranges::sort(all.kept, [&](const auto& a, const auto& b) { return place(a) < place(b); });
    return all;
}

}  // namespace

KeptCalibrations read_calibrations(const std::string& name) { return read_profiles(calibration_prefix, name); }

std::vector<KeptCalibration> every_calibration() {
    std::vector<KeptCalibration> all = read_calibrations().kept;
    for (const std::string& name : calibration_names())
        for (KeptCalibration& one : read_calibrations(name).kept) all.push_back(std::move(one));
    return all;
}

KeptCalibrations read_probes() { return read_profiles(probe_prefix); }

const KeptCalibration* calibration_for(std::int64_t ranks, std::span<const KeptCalibration> kept, bool accelerators) {
    const auto merit = [&](const KeptCalibration& k) {
        const std::int64_t measured = k.profile.machine.ranks_per_node;
        const bool as_run = ranks == 1 || calibration_ranks(k.profile) == "processes";
        return std::tuple(k.profile.machine.accelerators == accelerators, measured >= ranks,
                          -std::abs(measured - ranks), as_run, calibration_date(k.profile));
    };
    const auto best = std::ranges::max_element(kept, {}, merit);
    return best == kept.end() || best->profile.machine.accelerators != accelerators ? nullptr : &*best;
}

const KeptCalibration& named_calibration_for(std::int64_t ranks, std::span<const KeptCalibration> kept,
                                             const std::string& name) {
    for (const bool accelerators : {false, true}) {
        if (const KeptCalibration* found = calibration_for(ranks, kept, accelerators)) return *found;
    }
    throw Error(ErrorCode::missing_input, "no calibration of that name can be read", name,
                "`calibrate/name " + name + "` measures one, on a node of the kind");
}

const KeptCalibration& device_calibration_for(std::int64_t ranks, std::span<const KeptCalibration> kept) {
    const KeptCalibration* found = calibration_for(ranks, kept, true);
    if (found != nullptr) return *found;
    throw Error(ErrorCode::missing_input, "no calibration of this machine's GPUs is kept", "`machine cuda`",
                "`calibrate/backend cuda` measures them, on a node that has them");
}

}  // namespace gnnplan::io

namespace gnnplan {

std::optional<Machine> calibrated(int ranks, std::optional<int> threads) {
    std::vector<io::KeptCalibration> kept = io::read_calibrations().kept;
    if (threads) std::erase_if(kept, [&](const auto& k) { return io::calibration_threads(k.profile) != *threads; });
    const io::KeptCalibration* chosen = io::calibration_for(ranks, kept);
    if (chosen == nullptr) return std::nullopt;
    return chosen->profile.machine;
}

}  // namespace gnnplan
