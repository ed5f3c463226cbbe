// These functions choose and order the costed configurations that a plan carries.
#pragma once

#include "planner/search/costed.hpp"

#include <vector>

namespace gnnplan::search {

// Candidates that fit come first, then by predicted time; equal times by bytes, then id, so that the order is the same
// everywhere.
bool ranks_before(const EvaluatedCandidate& a, const EvaluatedCandidate& b);

// Marks those that fit and that no other one that fits beats in all objectives (ties are all marked).
void mark_front(std::vector<EvaluatedCandidate>& costed, const std::vector<Objective>& objectives);

// Chooses at most `most` candidates for a plan: the fastest of different grids and exchanges. A few of them let the
// input vary, as a single candidate does, unless `constant_input` says that it never does. If the graph is not counted
// (`exact` is false), a candidate that prunes rows is chosen only where there is no other.
std::vector<Candidate> choose_candidates(const std::vector<EvaluatedCandidate>& costed, int most, bool constant_input,
                                         bool exact);

}  // namespace gnnplan::search
