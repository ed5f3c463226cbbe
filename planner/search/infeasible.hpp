// What to tell someone whose problem fits nowhere.
#pragma once

#include "planner/search/candidates.hpp"

namespace gnnplan::search {

// Needs: the configuration with the lowest peak of `costed`, its largest tensors, and the smallest number of ranks
// above the space's, up to max_ranks, at which a configuration with R_A = 1 would fit.
Infeasible explain_infeasible(const Space& space, const std::vector<Costed>& costed);

std::string describe(const Infeasible& infeasible, int ranks);

}  // namespace gnnplan::search
