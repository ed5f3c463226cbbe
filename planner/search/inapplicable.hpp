// Choices that a search leaves out because they do not apply, or are known to be worse.
#pragma once

#include "planner/search/space.hpp"

#include <vector>

namespace gnnplan::search {

// Schemes that have no grid or none that the model can be on, orders that its layers cannot have, values of switches.
void add_inapplicable(const Space& space, std::vector<Rejection>& rejected);

}  // namespace gnnplan::search
