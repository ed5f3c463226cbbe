// From ranked members to a selection: what fits in memory, what is shown, what a plan carries.
#pragma once

#include "planner/search/full_space.hpp"

#include <vector>

namespace gnnplan::search {

// What came out of a search: members with their schedules, those that fit first, by time.
struct Found {
    std::vector<Costed> costed;
    std::vector<Rejected> rejected;
};

// The full space: the fastest members that fit, and of each grid the fastest that fits.
Found search_full_space(const Space& space, const Machine& machine, Views& views);
Found search_paper_space(const Space& space, const Machine& machine, Views& views);

// Marks those that fit and that no other one that fits beats in all objectives (ties are all marked).
void mark_front(std::vector<Costed>& costed, const std::vector<Objective>& objectives);

// At most `most` candidates for a plan: the fastest of different grids and exchanges, a few of which let the input
// vary; all of one kind if constant_input says that it does not. A single candidate lets it vary. Unless the graph is
// counted
// (`exact`), none prunes rows while there is another.
std::vector<Candidate> choose_candidates(const std::vector<Costed>& costed, int most, bool constant_input, bool exact);

}  // namespace gnnplan::search
