// Which frames the full space has on a grid, and under which switches each is looked at.
#pragma once

#include "planner/search/full_space.hpp"

#include <vector>

namespace gnnplan::search {

// The frame's switches with each exchange and overlap: they matter where there is something to exchange. One lowering
// serves all, as products alone feel them.
std::vector<Switches> exchanges_under(const Space& space, const ConfigurationFrame& frame);

// Frames on one grid, that exchange nothing. Statistics know no order of vertices, so a permutation is an option only for a
// graph that is there; pruning only where rows are to be saved.
std::vector<ConfigurationFrame> frames_on(const Space& space, const Distribution& on, bool factored);

}  // namespace gnnplan::search
