// Schedules in files: {"tensors": [...], "steps": [...]}, where steps name their tensors.
#pragma once

#include "planner/io/cursor.hpp"

#include <gnnplan/ir/schedule.hpp>

namespace gnnplan::io {

Document encode_schedule(const Schedule& schedule);

// The grid is the configuration's. Throws Error{data} on what does not have the form of a schedule; whether it is a
// correct one is for gnnplan::validate.
Schedule decode_schedule(const Cursor& cursor, const Grid& grid);

}  // namespace gnnplan::io
