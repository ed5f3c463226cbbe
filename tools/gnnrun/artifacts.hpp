// Files a run leaves behind: complete, or not there at all.
#pragma once

#include "tools/gnnrun/flags.hpp"

#include <gnnplan/ir/measurement.hpp>

namespace gnnplan::tools {

// Finds out before training that --report or --metrics cannot be written. Throws Error{cannot_create}.
void check_artifacts(const RunFlags& flags);

void write_artifacts(const RunFlags& flags, const RunReport& report);

}  // namespace gnnplan::tools
