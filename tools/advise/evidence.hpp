// The figures that predictions for a machine rest on, and how far they were confirmed: by its calibration, or by runs
// that were published (docs/published.md).
#pragma once

#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace gnnplan::tools {

enum class MachineOrigin : std::uint8_t {
    calibrated_here,
    calibrated_elsewhere,
    probed,  // a few rates of this machine were measured, and the others follow from a reference's
    preset,
    own_file,  // a profile that somebody wrote, such as one of data sheets
};
// Compares the machine with the catalog and with the calibrations that are kept here.
MachineOrigin origin_of(const Machine& machine);
std::string text(MachineOrigin origin);  // "calibrated here", "calibrated elsewhere", "probed", ...

// How often a predicted time a true one may be: at least, most likely, at most. None where nobody has compared any.
struct TimeFactors {
    double least = 1, likely = 1, most = 1;
};
// Where the machine is calibrated, four in five true times lie between the least and the most.
std::optional<TimeFactors> time_factors(const Prediction& predicted, const Machine& machine, Task task);

// "25 %", or "the model's errors": within these two times are a tie.
std::string tie_text(const Machine& machine);
// "less than 25 % apart", or "within the model's errors".
std::string apart_text(const Machine& machine);

// Whether the order in which predictions put schemes and orders was compared with runs, for the problem's model and
// task, on as many nodes of this machine.
bool was_compared(const Machine& machine, MachineOrigin origin, const ProblemRecord& problem);

// Says in whole sentences what predictions for the problem's model and task on the machine were compared with, and, of
// its ranks, whether anything was on several nodes.
std::string evidence_text(const Machine& machine, MachineOrigin origin, const ProblemRecord& problem);

}  // namespace gnnplan::tools
