// Choices that were pinned and cannot have the effect they were pinned for.
#pragma once

#include <gnnplan/select.hpp>

#include <string>
#include <vector>

namespace gnnplan::tools {

// Throws Error{usage} where a pinned switch can apply to none of the grids that the pinned scheme, replication or grid
// leaves.
void check_pins(const SelectOptions& options, int ranks);

// Remarks for the user: on a scheme that is not itself on any grid of so many ranks, on pinned switches that have
// no effect on what was chosen, and on a replication factor that none has.
std::vector<std::string> pin_remarks(const SelectOptions& options, const Plan& plan, bool replication_said);

}  // namespace gnnplan::tools
