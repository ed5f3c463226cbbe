// This machine's calibration: where it is kept, what it was measured with, and whether that is still so.
#pragma once

#include <gnnplan/ir/profile.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// $XDG_CACHE_HOME/gnnplan/machine.json, or ~/.cache/gnnplan/machine.json; nothing where neither is known.
std::optional<std::string> calibration_file();

// What a calibration made now would say of this machine and this build; `with_mpi`: between MPI ranks.
ProfileFingerprint fingerprint_here(bool with_mpi);

// What has changed since a calibration was made, in words; empty: nothing. MPI counts where it was measured with.
std::vector<std::string> stale_reasons(const ProfileFingerprint& then, const ProfileFingerprint& now);

// The calibration of this machine, if there is a file; `stale` gets what has changed. Throws like io::read_profile.
std::optional<Profile> load_calibration(std::vector<std::string>& stale);

// The machine to plan for when none is named: this machine's calibration if there is one, else the built-in cpu-node.
// Says on stderr when the calibration is stale or cannot be read; the latter counts as none.
Machine default_machine();

}  // namespace gnnplan::tools
