// Files a run leaves behind: complete, or not there at all.
#pragma once

#include "planner/io/trace.hpp"
#include "tools/gnnrun/flags.hpp"

#include <gnnplan/ir/measurement.hpp>

#include <optional>

namespace gnnplan::tools {

// Finds out before training that --report, --metrics or --trace cannot be written. Throws Error{cannot_create}.
void check_artifacts(const RunFlags& flags);

// `trace` is there when --trace is.
void write_artifacts(const RunFlags& flags, const RunReport& report, const std::optional<io::Trace>& trace);

}  // namespace gnnplan::tools
