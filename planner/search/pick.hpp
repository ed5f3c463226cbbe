// From a space to its costed configurations: what fits in memory, and what a table shows.
#pragma once

#include "planner/search/walk.hpp"

namespace gnnplan::search {

// The full space: the fastest members that fit, and of each grid the fastest that fits.
SearchResult search_full_space(const Space& space, const Machine& machine, NumberedGraphs& graphs);
SearchResult search_paper_space(const Space& space, const Machine& machine, NumberedGraphs& graphs);

}  // namespace gnnplan::search
