// The member of a search that needs least memory, found without lowering all of them.
#pragma once

#include "planner/search/full_space.hpp"

#include <cstdint>

namespace gnnplan::search {

struct Thriftiest {
    Member member;
    std::int64_t peak_bytes = 0;
};

// Overlap and the numbering of vertices save no memory, so one frame stands for those that differ in nothing else. Each
// such frame is represented by its fastest member that keeps nothing, and the thriftiest frames by every member. The
// result depends on the space alone, not on how much memory is allowed.
Thriftiest thriftiest_member(const Space& space, const Members& all, NumberedGraphs& graphs);

}  // namespace gnnplan::search
