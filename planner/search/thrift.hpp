// The member of a search that needs least memory, found without lowering all of them.
#pragma once

#include "planner/search/full_space.hpp"

#include <cstdint>

namespace gnnplan::search {

struct Thriftiest {
    Member member;
    std::int64_t peak_bytes = 0;
};

// Overlap and the numbering of vertices save no memory, so one frame stands for those that differ in nothing else. Of
// each such frame the fastest member that keeps nothing is looked at, and of the thriftiest frames every member. A
// function of the space alone: what is allowed does not enter.
Thriftiest thriftiest_member(const Space& space, const Members& all, NumberedGraphs& graphs);

}  // namespace gnnplan::search
