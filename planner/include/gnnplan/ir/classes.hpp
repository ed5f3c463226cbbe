// Ranks that are alike: folds over ranks need to look at one of each kind only.
#pragma once

#include <gnnplan/ir/schedule.hpp>

#include <vector>

namespace gnnplan {

struct RankClasses {
    std::vector<int> representative;  // one rank of each class
    std::vector<int> class_of;        // per rank, index into representative
};

// Classes such that ranks of one class have blocks, peers and pieces of the same sizes and so send, receive, hold and
// stage as many bytes, as far as sizes alone decide (not the graph), all-reduces apart: those go by the number of the
// rank. Where a product gathers nonzeros every rank is a class of its own. Without `neighbours` they may differ in what
// a reduce-scatter brings them, by a row at most, and in where the pieces of gathered nonzeros are cut, not in their
// number: fewer classes, enough for times.
RankClasses rank_classes(const Schedule& schedule, bool neighbours = true);

// Classes that are as large as if no product gathered nonzeros: what ranks of one class have in common holds of all
// other steps. Without `neighbours`, of what they hold and stage alone.
RankClasses size_classes(const Schedule& schedule, bool neighbours = true);

}  // namespace gnnplan
