// From ranked members to a selection: what fits in memory, what is shown, what a plan carries.
#pragma once

#include "planner/search/full_space.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::search {

// What came out of a search: members with their schedules, those that fit first, by time.
struct SearchResult {
    std::vector<EvaluatedCandidate> costed;
    std::vector<Rejection> rejected;
    std::int64_t needed_buffer = 0;  // where the bound on buffers leaves nothing: bytes that would be enough
};

// The full space: the fastest members that fit, and of each grid the fastest that fits.
SearchResult search_full_space(const Space& space, const Machine& machine, NumberedGraphs& graphs);
SearchResult search_paper_space(const Space& space, const Machine& machine, NumberedGraphs& graphs);

// Marks those that fit and that no other one that fits beats in all objectives (ties are all marked).
void mark_front(std::vector<EvaluatedCandidate>& costed, const std::vector<Objective>& objectives);

// Chooses at most `most` candidates for a plan: the fastest of different grids and exchanges. A few of them let the
// input vary, as a single candidate does, unless `constant_input` says that it never does. If the graph is not counted
// (`exact` is false), a candidate that prunes rows is chosen only where there is no other.
std::vector<Candidate> choose_candidates(const std::vector<EvaluatedCandidate>& costed, int most, bool constant_input,
                                         bool exact);

}  // namespace gnnplan::search
