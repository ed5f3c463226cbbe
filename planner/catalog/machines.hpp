// Machine profiles that can be planned for without having the machine, and the machine we are on.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::catalog {

// The built-in profiles: the papers' machines, newer nodes, and `cpu-node`, which stands in for one nobody calibrated.
// All rates are those of one rank while every rank of its node works. None is measured on the named machine:
// `source` says which figures are published and which are estimated.
std::span<const Machine> machines();

std::vector<std::string> machine_names();

inline constexpr const char* own_machine_hint = "`machines-new/` makes a profile of a machine of your own";

// Throws Error{missing_input} that lists near names, those of `others` too, and says how to describe another machine.
const Machine& find_machine(std::string_view name, const std::vector<std::string>& others = {});

// This machine: its cores and memory, one rank per core, at cpu-node's rates per core. Not measured.
// Throws Error{unavailable} where the system does not tell its memory.
Machine detect_machine();

}  // namespace gnnplan::catalog
