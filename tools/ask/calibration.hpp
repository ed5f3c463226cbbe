// This machine's calibrations: keeping them, and whether one still holds.
#pragma once

#include "planner/io/calibrations.hpp"

#include <gnnplan/ir/profile.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// The MPI library that this program was built with; empty: none.
std::string mpi_library();

// The fingerprint that a calibration made now would have on this machine, with this build; `with_mpi`: between MPI
// ranks. `table` names the kernels; "" are those of this machine's processor.
ProfileFingerprint fingerprint_here(bool with_mpi, const std::string& table = {});

// The changes since a calibration was made, in words; empty: none. MPI counts where it was measured with. Where devices
// such as GPUs were measured, or the calibration has a name, it may be asked elsewhere: neither processor nor devices
// are compared, and of the kernels their version.
std::vector<std::string> stale_reasons(const ProfileFingerprint& then, const ProfileFingerprint& now,
                                       bool of_this_node = true);

using io::calibration_date;
using io::calibration_for;
using io::calibration_kind;
using io::calibration_ranks;
using io::device_calibration_for;
using io::KeptCalibration;

// All that are kept, by ranks, with what has changed since.
struct KeptCalibrations {
    std::vector<KeptCalibration> all;
    std::vector<std::string> warnings;  // which cannot be read
};
// Those with a name are of other nodes: whether their processor still is the same is not for this one to say.
KeptCalibrations kept_calibrations(const std::string& name = {});
// Machines that were only probed and are kept, with why one does not hold. A probe holds for a day; what cannot be read
// is measured again.
std::vector<KeptCalibration> kept_probes();
// Days since a date as in a fingerprint, 0 where it is none.
std::int64_t days_since(const std::string& date);

// Makes the folder and returns its name. Throws Error{usage} where none is known, Error{cannot_create}.
std::string make_calibration_folder(const std::string& name = {});

// Writes a profile that no plan is to use unasked, beside `output` or, unset, in a folder beside those that are kept
// under `name`. Returns the file.
std::string set_aside(const Profile& measured, const std::optional<std::string>& output, const std::string& name = {});

// Puts `measured` into the place of its kind, unless that is taken by one of more measurements that is not stale; then
// it is set aside.
struct Keeping {
    std::optional<std::string> file;  // where it is kept
    std::string note;                 // why it is not, and where it is
};
Keeping keep_calibration(const Profile& measured, const std::string& name = {});

}  // namespace gnnplan::tools
