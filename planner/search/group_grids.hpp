// Grids whose ranks of one coordinate along x are a group with graphs of its own.
#pragma once

#include "planner/search/space.hpp"

#include <vector>

namespace gnnplan::search {

// The grid of groups that train on clones: one rank each unless the grid is pinned. Results depend on how many groups
// there are, and on the rule, so neither is searched. Throws Error{usage} for options that do not go with groups.
std::vector<Distribution> grid_of_groups(const Space& space);

// Grids of groups that train on batches: every number of groups that divides the batches of an update and the ranks.
// Results are the same on all of them. Throws Error{usage} where there is none.
std::vector<Distribution> grids_of_batches(const Space& space);

}  // namespace gnnplan::search
