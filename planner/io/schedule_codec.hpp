// Schedules in files: {"numbering", "spaces", "parameters", "tensors", "steps"}; tensors name their spaces and
// parameters, and steps their tensors.
#pragma once

#include "planner/io/cursor.hpp"

#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/schedule.hpp>

namespace gnnplan::io {

Document encode_schedule(const Schedule& schedule);

// The grid is the configuration's, blocking and nodes are the machine's; `older`: written by plan version 1 or 2.
// Throws Error{data} on what does not have the form of a schedule; whether it is a correct one is for
// gnnplan::validate.
Schedule decode_schedule(const Cursor& cursor, const Grid& grid, const Machine& machine, bool older);

}  // namespace gnnplan::io
