// ColumnUsers says which of several ranges of rows hold a nonzero in a column.
#pragma once

#include "runtime/blocks/column_profile.hpp"

#include <gnnplan/base/range.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace gnnplan::data {

class ColumnUsers {
public:
    static constexpr std::size_t most_ranges = 64;

    explicit ColumnUsers(std::size_t ranges) : ranges_(ranges) {}
    // The columns of a range's nonzeros, and those that hold one besides.
    void add(std::size_t range, ColumnTally& tally, Range ones);
    // Once, when all have been added.
    void finish();

    // As GraphStats::columns_by_next; keeps the answer.
    const std::vector<std::int64_t>& by_next(Range columns);
    std::int64_t bytes() const { return static_cast<std::int64_t>(users_.size() * sizeof(users_.front())); }

private:
    std::vector<std::int64_t> count(Range columns) const;

    std::size_t ranges_;
    std::vector<std::pair<std::int32_t, std::uint64_t>> users_;  // a bit for each range, by ascending columns
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>> known_;
};

}  // namespace gnnplan::data
