// This machine's calibrations as files: where they are kept, and which one is planned with.
#pragma once

#include <gnnplan/ir/profile.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::io {

// $XDG_CACHE_HOME/gnnplan, or ~/.cache/gnnplan; nothing where neither variable says. Calibrations with a name, which a
// user gave to one of several kinds of nodes that share this folder, lie in named/NAME below it.
std::optional<std::string> calibration_folder(const std::string& name = {});
// The names that are there, sorted.
std::vector<std::string> calibration_names();
// Throws Error{usage} unless it is letters, digits, '.', '_' and '-', and no preset's, so that it says which machine is
// meant.
void check_calibration_name(const std::string& name, const std::vector<std::string>& presets);

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
    std::string name{};                // that it was given; empty: it is of this machine
};

struct KeptCalibrations {
    std::vector<KeptCalibration> kept;    // by ranks
    std::vector<std::string> unreadable;  // why the others are not among them
};
KeptCalibrations read_calibrations(const std::string& name = {});
// With a name and without, those that can be read.
std::vector<KeptCalibration> every_calibration();
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
// The same of those that have a name, on devices where these alone were measured. Throws Error{missing_input}.
const KeptCalibration& named_calibration_for(std::int64_t ranks, std::span<const KeptCalibration> kept,
                                             const std::string& name);
// The same of devices where there has to be one: throws Error{missing_input}.
const KeptCalibration& device_calibration_for(std::int64_t ranks, std::span<const KeptCalibration> kept);

}  // namespace gnnplan::io
