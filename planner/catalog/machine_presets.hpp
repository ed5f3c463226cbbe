// The figures behind machines(): published specifications, and estimates that say so.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <vector>

namespace gnnplan::catalog {

std::vector<Machine> make_machine_presets();
// Nodes of processors of today.
std::vector<Machine> make_cpu_presets();

}  // namespace gnnplan::catalog
