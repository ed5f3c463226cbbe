// What every choice of a plan is worth: the chosen configuration with one choice made otherwise, and what frameworks do
// by default. For people to read and for tools to print; nothing runs an alternative.
#pragma once

#include "planner/search/space.hpp"

#include <vector>

namespace gnnplan::search {

// `costed` is what the search found, those that fit first, by time; `chosen` one of its configurations. Schemes and
// grids are the best of those found, orders and what is kept the best choices of the layer that changes, everything
// else being as chosen; a pin gives way only where it pins the choice that changes. An alternative may be over memory.
//
// `choice` is one of: "scheme NAME", "grid", "forward LAYERS ORDER", "backward LAYERS ORDER" (layers as 2 or 2..9),
// "input aggregated every epoch", "nothing kept", "exchange panels|rows", "overlap on|off", and "permutation off",
// "partition off", "loss rows off", "factored values off", "replicated input off", "column loss off"; then
// "baseline", 1D as PyTorch Geometric multiplies, and "baseline DGL" where DGL orders products in another way.
std::vector<Alternative> alternatives(const Space& space, const std::vector<EvaluatedCandidate>& costed,
                                      const Configuration& chosen, const Machine& machine, NumberedGraphs& graphs);

}  // namespace gnnplan::search
