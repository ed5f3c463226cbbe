// The columns that hold something in some rows of a matrix: how many, and how many nonzeros, lie before any column.
#pragma once

#include <gnnplan/base/range.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gnnplan::data {

// A set of columns in ascending order. It is held as a list of 4 bytes a column, or as 4/3 of a bit for every column
// from the first to the last, whichever takes less.
class ColumnSet {
public:
    // The `count` columns that will be added all lie in `span`.
    ColumnSet(Range span, std::int64_t count);

    void add(std::int32_t column) {
        if (lines_.empty()) {
            list_.push_back(column);
            return;
        }
        const auto at = static_cast<std::size_t>(column - span_.begin);
        Line& line = lines_[at / Line::columns];
        line.bits[at % Line::columns / 64] |= std::uint64_t{1} << (at % Line::columns % 64);
    }
    // Once, when all have been added.
    void finish();

    std::int64_t before(std::int64_t column) const;
    std::int64_t bytes() const;
    static std::int64_t bytes(Range span, std::int64_t count);

private:
    // Holds as many columns as fit into a cache line.
    struct Line {
        static constexpr std::int64_t columns = 384;
        std::array<std::uint64_t, 6> bits{};
        std::array<std::uint16_t, 6> in_line_before{};  // members in the line's words before each
        std::int32_t before = 0;                        // members before the line
    };

    Range span_;
    std::int64_t count_;
    std::vector<std::int32_t> list_;
    std::vector<Line> lines_;
};

// Counts nonzeros by column while rows are walked: a list that is sorted where they are few, else a count per column.
class ColumnTally {
public:
    explicit ColumnTally(std::int64_t columns) : columns_(columns) {}

    void add(std::int32_t column) {
        if (counting_) {
            ++count_[static_cast<std::size_t>(column)];
        } else {
            few_.push_back(column);
            if (std::ssize(few_) > columns_ / columns_each) count();
        }
    }
    // Calls visit(column, nonzeros) for columns that hold something, in order.
    template <class Visit>
    void each(Visit visit) {
        if (counting_) {
            for (std::size_t c = 0; c < count_.size(); ++c) {
                if (count_[c] > 0) visit(static_cast<std::int32_t>(c), count_[c]);
            }
            return;
        }
        sort();
        for (auto at = few_.begin(); at != few_.end();) {
            const auto first = at;
            while (at != few_.end() && *at == *first) ++at;
            visit(*first, static_cast<std::int64_t>(at - first));
        }
    }
    void clear();

private:
    static constexpr std::int64_t columns_each = 32;  // sorting one costs about as much as passing so many
    void count();
    void sort();

    std::int64_t columns_;
    bool counting_ = false, sorted_ = false;
    std::vector<std::int32_t> few_;
    std::vector<std::int32_t> count_;  // stays where it is when it is cleared
};

// Either a list of the columns with what they hold, where that takes few bytes, as a list is the quickest to look into;
// or sets of columns, of which set k holds those of k nonzeros and more, with a list of what columns hold beyond the
// last set. Each column of a range may hold one nonzero besides.
class ColumnProfile {
public:
    // `ones`: the columns that hold one more than the tally says.
    ColumnProfile(ColumnTally& tally, Range ones, std::int64_t few_bytes);

    std::int64_t nonzeros(Range columns) const;
    std::int64_t distinct(Range columns) const {
        const Range common = intersect(columns, ones_);
        if (common.empty()) return met(columns);
        return common.size() + met({columns.begin, common.begin}) + met({common.end, columns.end});
    }
    // Both answer for each of several ranges.
    std::vector<std::int64_t> nonzeros(const std::vector<Range>& columns) const;
    std::vector<std::int64_t> distinct(const std::vector<Range>& columns) const;
    std::int64_t nonzeros() const { return nonzeros_; }
    std::int64_t bytes() const;

private:
    std::int64_t met(Range columns) const;

    Range ones_;
    std::vector<ColumnSet> sets_;
    std::vector<std::int32_t> listed_;         // columns of more nonzeros than there are sets
    std::vector<std::int64_t> listed_before_;  // nonzeros beyond the sets before each of them, and all in the end
    std::int64_t nonzeros_ = 0;
};

}  // namespace gnnplan::data
