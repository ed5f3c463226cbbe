// The advice to someone whose problem fits nowhere.
#pragma once

#include "planner/search/costed.hpp"

namespace gnnplan::search {

// Needs: the configuration with the lowest peak of those that were costed, its largest tensors, and the smallest number
// of ranks above the space's, up to max_ranks, at which it would fit as 1D.
Infeasible explain_infeasible(const Space& space, const Candidate& thriftiest, NumberedGraphs& graphs);

// "32.4 GiB per rank, 16 GiB are allowed": what is needed is rounded up, so that allowing it is enough.
std::string needed_of_allowed(const Infeasible& infeasible);
std::string describe(const Infeasible& infeasible, int ranks);

}  // namespace gnnplan::search
