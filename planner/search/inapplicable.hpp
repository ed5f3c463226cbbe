// What a search leaves out because it does not apply, or is known to be worse.
#pragma once

#include "planner/search/space.hpp"

#include <vector>

namespace gnnplan::search {

// Schemes that have no grid or none that the model can be on, orders that its layers cannot have, values of switches.
void add_inapplicable(const Space& space, std::vector<Rejection>& rejected);

}  // namespace gnnplan::search
