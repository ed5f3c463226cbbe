// Ranks that are alike: folds over ranks need to look at one of each kind only.
#pragma once

#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace gnnplan {

struct RankClasses {
    std::vector<int> representative;  // one rank of each class
    std::vector<int> class_of;        // per rank, index into representative
};

// Ranks of one class send, receive, hold and stage equally many bytes in every step whose bytes follow from sizes
// alone: their blocks, peers and pieces have the same sizes. All-reduces are excluded, and what is sent of relayed
// panels: they depend on the number of the rank. Where a product gathers nonzeros, rows move between spaces, or ranks
// form groups, every rank is a class of its own. Without `neighbours` there are fewer classes, which is enough for
// times: their ranks may differ by a row in the result of a reduce-scatter, and in where the pieces of gathered
// nonzeros are cut, but not in how many there are.
RankClasses rank_classes(const Schedule& schedule, bool neighbours = true);

// The same classes as if no product gathered nonzeros. Their ranks are alike in all other steps; without `neighbours`
// they are alike in what they hold and stage, and may differ in what they send.
RankClasses size_classes(const Schedule& schedule, bool neighbours = true);

// The classes of size_classes in single steps, of which there are fewer than in a whole schedule whose widths differ.
// Steps whose operands have the same sizes share an answer, which stays where it is. All schedules are on one grid.
class StepClasses {
public:
    const RankClasses& of(const Schedule& schedule, const Operation& operation);

private:
    using Sizes = std::set<std::int64_t>;
    // By rows, widths, those over all ranks, and whether blocks are dealt.
    std::map<std::tuple<Sizes, Sizes, Sizes, bool>, RankClasses> known_;
    std::optional<RankClasses> apart_;  // of steps that tell all ranks apart
};

// Whether the step exchanges something with other ranks.
bool exchanges(const Operation& operation);

// Whether the step exchanges nothing, and the sizes of its blocks are all that its work depends on.
bool local_by_size(const Schedule& schedule, const Operation& operation);

// Ranks among which every combination of the sizes of the step's blocks is found.
std::vector<int> ranks_of_all_sizes(const Schedule& schedule, const Operation& operation);

}  // namespace gnnplan
