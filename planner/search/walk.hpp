// The members of a search that are costed in full: the fastest that fit, and of each grid the fastest that fits.
#pragma once

#include "planner/search/full_space.hpp"

#include <cstdint>
#include <vector>

namespace gnnplan::search {

// The result of a search: members with their schedules, those that fit first, by time.
struct SearchResult {
    std::vector<EvaluatedCandidate> costed;
    std::vector<Rejection> rejected;
    bool fastest_is_over = false;    // whether the fastest is over memory
    std::int64_t needed_buffer = 0;  // where the bound on buffers leaves nothing: bytes that would be enough
};

EvaluatedCandidate costed_of(const Space& space, Candidate candidate);

// `costed` is in the order of the members, apart from one that is over memory, which is there where none fits.
SearchResult walk_members(const Space& space, const Machine& machine, NumberedGraphs& graphs, const Members& all);

}  // namespace gnnplan::search
