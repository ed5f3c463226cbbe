// Machines to plan for that come with the library.
#pragma once

#include <gnnplan/ir/machine.hpp>

#include <string_view>

namespace gnnplan {

// The machine that `gnnplan machines list` shows under this name, e.g. "a6000x8" or "cpu-node". Not measured: orders
// and schemes found for it can be relied on more than times. Throws Error{missing_input} that lists near names.
Machine preset(std::string_view name);

}  // namespace gnnplan
