// RowShares says which rows of the matrices a rank has while it loads a graph in shares.
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
    // The rank that makes a row, and the first row that it makes.
    struct Maker {
        int rank = 0;
        std::int64_t first = 0;
    };
    Maker maker_of(std::int64_t row) const {
        auto i = static_cast<std::size_t>(near_[static_cast<std::size_t>(row >> bucket_bits_)]);
        while (i + 1 < first_.size() && first_[i + 1] <= row) ++i;
        return {maker_[i], first_[i]};
    }
    int maker(std::int64_t row) const { return maker_of(row).rank; }
    int ranks() const { return static_cast<int>(kept_.size()); }

private:
    std::vector<Range> kept_, made_;        // by rank
    std::vector<std::vector<int>> groups_;  // in the order of their rows
    std::vector<std::size_t> group_of_;     // by rank
    std::vector<std::int64_t> first_;       // of what each maker makes, ascending
    std::vector<int> maker_;                // whose that is
    // The place in first_ of who makes the first row of each bucket of 2^bucket_bits_ rows.
    std::vector<std::int32_t> near_;
    int bucket_bits_ = 0;

    void find_near(std::int64_t rows);
};

}  // namespace gnnplan::load
