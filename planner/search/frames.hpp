// Which frames the full space has on a grid, and under which switches each is looked at.
#pragma once

#include "planner/search/full_space.hpp"

#include <vector>

namespace gnnplan::search {

// Overlap and exchange matter where there is something to exchange.
std::vector<ExchangeOptions> switches_of(const Space& space, const Distribution& on);

// Frames on one grid, without switches. Statistics know no order of vertices, so a permutation is an option only for a
// graph that is there; pruning only where rows are to be saved.
std::vector<ConfigurationFrame> frames_on(const Space& space, const Distribution& on, bool factored);

}  // namespace gnnplan::search
