// Choices that were pinned and cannot have the effect they were pinned for.
#pragma once

#include <gnnplan/select.hpp>

#include <string>
#include <vector>

namespace gnnplan::tools {

// Throws Error{usage} where --exchange or --overlap can apply to none of the grids that the pinned scheme, replication
// or grid leaves. Returns remarks for the user: on a scheme that is not itself on any grid of so many ranks.
std::vector<std::string> check_pins(const SelectOptions& options, int ranks);

// Remarks on pins that do not apply to what was chosen.
std::vector<std::string> pin_remarks(const SelectOptions& options, const Configuration& chosen);

}  // namespace gnnplan::tools
