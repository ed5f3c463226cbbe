// gnnplan machines new: a profile from the figures of data sheets.
#pragma once

#include "tools/gnnplan/command.hpp"

namespace gnnplan::tools {

void add_machines_new(CLI::App& machines, Context& context);

}  // namespace gnnplan::tools
