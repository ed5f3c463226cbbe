// This machine's calibrations as files: where they are kept, and which one is planned with.
#pragma once

#include <gnnplan/ir/profile.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::io {

// $XDG_CACHE_HOME/gnnplan, or ~/.cache/gnnplan; nothing where neither variable says.
std::optional<std::string> calibration_folder();

// One of each kind is kept; the kind is "2x1" for two ranks a node of one thread each.
std::string calibration_kind(const Profile& profile);
// The kind of its ranks: "processes" under mpirun, "threads" of one process; "" where that is not known.
std::string calibration_ranks(const Profile& profile);
// The name of its file in that folder: machine-2x1-processes.json, of devices such as GPUs machine-2x1-devices-... .
// Files of older versions, machine-2x1.json, are read.
std::string calibration_file(const Profile& profile);
// The same of a machine that was only probed, as threads of one process: probe-2x1.json.
std::string probe_file(const Profile& profile);
// As in its fingerprint; "" without one.
std::string calibration_date(const Profile& profile);
// Threads of each rank that measured.
int calibration_threads(const Profile& profile);

struct KeptCalibration {
    std::string file;
    Profile profile;
    std::vector<std::string> stale{};  // what has changed since, where someone has looked
};

struct KeptCalibrations {
    std::vector<KeptCalibration> kept;    // by ranks
    std::vector<std::string> unreadable;  // why the others are not among them
};
KeptCalibrations read_calibrations();
// Machines that were only probed, which plans are made with where there is no calibration.
KeptCalibrations read_probes();

KeptCalibration read_calibration(const std::string& file);

// The name under which users plan with a kept calibration of devices with memory of their own.
inline constexpr const char* device_machine = "cuda";

// Picks the calibration to plan `ranks` ranks with: one of equally many ranks a node, else of the next larger number,
// else of the largest. Among these it prefers ranks that were processes, as under mpirun, and then the newest. Only
// those of ranks on devices with memory of their own, or only the others. Returns nullptr when there is none.
const KeptCalibration* calibration_for(std::int64_t ranks, std::span<const KeptCalibration> kept,
                                       bool accelerators = false);
// The same where there has to be one: throws Error{missing_input}.
const KeptCalibration& device_calibration_for(std::int64_t ranks, std::span<const KeptCalibration> kept);

}  // namespace gnnplan::io
