// This machine's calibrations: keeping them, and whether one still holds.
#pragma once

#include "planner/io/calibrations.hpp"

#include <gnnplan/ir/profile.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// What a calibration made now would say of this machine and this build; `with_mpi`: between MPI ranks.
ProfileFingerprint fingerprint_here(bool with_mpi);

// What has changed since a calibration was made, in words; empty: nothing. MPI counts where it was measured with.
std::vector<std::string> stale_reasons(const ProfileFingerprint& then, const ProfileFingerprint& now);

using io::calibration_date;
using io::calibration_for;
using io::calibration_kind;
using io::calibration_ranks;
using io::KeptCalibration;

// All that are kept, by ranks, with what has changed since. Says on stderr which cannot be read.
std::vector<KeptCalibration> kept_calibrations();

// Makes the folder and returns its name. Throws Error{usage} where none is known, Error{cannot_create}.
std::string make_calibration_folder();

// Puts `measured` into the place of its kind and returns the file. Nothing, which is said on stderr, where the place
// is taken by one of more measurements that is not stale.
std::optional<std::string> keep_calibration(const Profile& measured);

// The machine to plan `ranks` ranks for when none is named: that of calibration_for(), else the built-in cpu-node.
// Says on stderr when the calibration is stale or old.
Machine default_machine(std::int64_t ranks);

// What predictions for so many ranks suffer from, the profile being of another number a node; empty for presets.
std::vector<std::string> node_notes(const Machine& machine, const std::vector<std::int64_t>& ranks);

// Prints the notes on stderr, one line each.
void say_notes(const std::vector<std::string>& notes);

}  // namespace gnnplan::tools
