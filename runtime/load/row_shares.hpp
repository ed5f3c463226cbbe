// Which rows of the matrices a rank has while it loads a graph in shares.
#pragma once

#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan::load {

// A rank cuts its blocks out of whole rows, those of its adjacencies. Ranks that have the same ones each make a part of
// them out of edges, and then give the others theirs. Rows count as the schedule numbers them.
class RowShares {
public:
    // Throws ErrorCode::usage for a schedule whose numbering takes the whole graph.
    explicit RowShares(const Schedule& schedule);

    Range kept(int rank) const { return kept_[static_cast<std::size_t>(rank)]; }
    Range made(int rank) const { return made_[static_cast<std::size_t>(rank)]; }
    // The ranks with the same rows, in the order of what they make.
    const std::vector<int>& group(int rank) const { return groups_[group_of_[static_cast<std::size_t>(rank)]]; }
    // The rank that makes a row.
    int maker(std::int64_t row) const;
    int ranks() const { return static_cast<int>(kept_.size()); }

private:
    std::vector<Range> kept_, made_;        // by rank
    std::vector<std::vector<int>> groups_;  // in the order of their rows
    std::vector<std::size_t> group_of_;     // by rank
    std::vector<std::int64_t> first_;       // of what each maker makes, ascending
    std::vector<int> maker_;                // whose that is
};

}  // namespace gnnplan::load
