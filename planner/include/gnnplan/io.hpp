// Files that the tools write: this machine's calibrations, and plans.
#pragma once

#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/plan.hpp>

#include <optional>
#include <string>

namespace gnnplan {

// The calibration of this machine by `gnnplan calibrate`, as `gnnplan plan` picks it for so many ranks: of as many on a
// node, else of the next more, else of the most. With `threads`, only calibrations of so many threads a rank count.
// None where nothing was kept in $XDG_CACHE_HOME/gnnplan or ~/.cache/gnnplan, or nothing that can be read.
// `gnnplan machines` says whether what was kept still holds; that is not looked into here.
std::optional<Machine> calibrated(int ranks, std::optional<int> threads = {});

// The plan that `gnnplan plan -o PATH` wrote. Throws Error{missing_input} or Error{io} where it cannot be read, and
// Error{data} where it is no such plan or was altered.
Plan read_plan(const std::string& path);

// Writes the file that `gnnplan plan -o PATH` writes of a plan, for gnnrun; it is complete or not there at all. The
// plan has a candidate at least. Throws Error{cannot_create}, or Error{io} where writing fails.
void write_plan(const std::string& path, Plan plan);

}  // namespace gnnplan
