// Refusals of what is asked of a search.
#pragma once

#include "planner/search/space.hpp"

namespace gnnplan::search {

// Throws Error{usage} for options that the model, the graph or the task has no use for, and for pinned choices that do
// not exist, other than grids; and for sizes whose sums do not fit 64 bits.
void check_options(const Space& space, const ProblemRecord& problem);

}  // namespace gnnplan::search
