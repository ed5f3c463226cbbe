// Choices that were pinned and cannot have the effect they were pinned for.
#pragma once

#include <gnnplan/select.hpp>

#include <string>
#include <vector>

namespace gnnplan::tools {

// Throws Error{usage} where a pinned switch can apply to none of the grids that the pinned scheme, replication or grid
// leaves.
void check_pins(const SelectOptions& options, int ranks);

// Remarks for the user: on a scheme that is not itself on any grid of so many ranks, and on pinned switches that have
// no effect on what was chosen.
std::vector<std::string> pin_remarks(const SelectOptions& options, const Configuration& chosen, int ranks);

}  // namespace gnnplan::tools
