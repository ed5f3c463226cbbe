// Machine profiles, schema gnnplan.machine/1: docs/plan-format.md.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <string>
#include <string_view>

namespace gnnplan::io {

inline constexpr std::string_view machine_schema = "gnnplan.machine/1";

std::string write_machine(const Machine& machine);

// Reads and validates a machine, of a profile as well. Throws Error{data} like read_plan.
Machine read_machine(std::string_view text, const std::string& where);

}  // namespace gnnplan::io
