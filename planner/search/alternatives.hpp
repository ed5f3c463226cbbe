// How much every choice of a plan is worth: the chosen configuration with one choice made otherwise, and the defaults
// of frameworks. For people to read and for tools to print; nothing runs an alternative.
#pragma once

#include "planner/search/costed.hpp"

#include <vector>

namespace gnnplan::search {

// `costed` is what the search found, those that fit first, by time; `chosen` one of its configurations. Schemes and
// grids are the best of those found, orders and what is kept the best choices of the layer that changes, everything
// else being as chosen; a pin gives way only where it pins the choice that changes. An alternative may be over memory.
//
// docs/plan-format.md lists their choices. The baselines are 1D as PyTorch Geometric multiplies ("pyg"), and as DGL
// does ("dgl") where it orders products in another way.
std::vector<Alternative> alternatives(const Space& space, const std::vector<EvaluatedCandidate>& costed,
                                      const Configuration& chosen, const Machine& machine, NumberedGraphs& graphs);

}  // namespace gnnplan::search
