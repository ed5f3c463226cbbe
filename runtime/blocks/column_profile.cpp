#include "runtime/blocks/column_profile.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace gnnplan::data {
namespace {

constexpr std::size_t most_sets = 8;
constexpr std::int64_t listed_bytes = sizeof(std::int32_t) + sizeof(std::int64_t);

// How many columns hold k nonzeros and more, for k = 1 .. most_sets + 1, and where they lie.
struct Levels {
    std::array<std::int64_t, most_sets + 1> columns{};
    Range span{std::numeric_limits<std::int64_t>::max(), 0};
    std::int64_t nonzeros = 0;

    explicit Levels(ColumnTally& tally) {
        tally.each([&](std::int32_t column, std::int64_t count) {
            ++columns[std::min<std::size_t>(static_cast<std::size_t>(count), columns.size()) - 1];
            span.begin = std::min<std::int64_t>(span.begin, column);
            span.end = column + 1;
            nonzeros += count;
        });
        for (std::size_t k = columns.size() - 1; k > 0; --k) columns[k - 1] += columns[k];
        if (nonzeros == 0) span = {0, 0};
    }

    // Chooses the number of sets that takes the fewest bytes together with the list of columns that have more nonzeros.
    std::size_t thriftiest() const {
        std::size_t best = 1;
        std::int64_t of_sets = 0;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::size_t sets = 1; sets <= most_sets; ++sets) {
            of_sets += ColumnSet::bytes(span, columns[sets - 1]);
            const std::int64_t bytes = of_sets + listed_bytes * columns[sets];
            if (bytes < least) best = sets, least = bytes;
        }
        return best;
    }
};

// Indices of those within a range.
std::pair<std::size_t, std::size_t> listed_within(const std::vector<std::int32_t>& columns, Range range) {
    const auto low = std::lower_bound(columns.begin(), columns.end(), range.begin);
    const auto high = std::lower_bound(low, columns.end(), range.end);
    return {static_cast<std::size_t>(low - columns.begin()), static_cast<std::size_t>(high - columns.begin())};
}

// The same for one range after the other: it goes on where the last one ended, if they ascend.
class ListedWalk {
public:
    explicit ListedWalk(const std::vector<std::int32_t>& columns) : columns_(columns) {}

    std::pair<std::size_t, std::size_t> within(Range range) {
        if (range.begin < end_) at_ = 0;
        end_ = std::max(range.begin, range.end);
        while (at_ < columns_.size() && columns_[at_] < range.begin) ++at_;
        const std::size_t low = at_;
        while (at_ < columns_.size() && columns_[at_] < range.end) ++at_;
        return {low, at_};
    }

private:
    const std::vector<std::int32_t>& columns_;
    std::size_t at_ = 0;
    std::int64_t end_ = 0;
};

}  // namespace

std::int64_t ColumnSet::bytes(Range span, std::int64_t count) {
    const std::int64_t lines = (span.size() + Line::columns - 1) / Line::columns;
    return std::min(count * static_cast<std::int64_t>(sizeof(std::int32_t)),
                    lines * static_cast<std::int64_t>(sizeof(Line)));
}

std::int64_t ColumnSet::bytes() const { return bytes(span_, count_); }

ColumnSet::ColumnSet(Range span, std::int64_t count) : span_(span), count_(count) {
    const std::int64_t listed = count * static_cast<std::int64_t>(sizeof(std::int32_t));
    if (bytes() == listed) {
        list_.reserve(static_cast<std::size_t>(count));
    } else {
        lines_.resize(static_cast<std::size_t>((span.size() + Line::columns - 1) / Line::columns));
    }
}

void ColumnSet::finish() {
    std::int32_t before = 0;
    for (Line& line : lines_) {
        line.before = before;
        for (std::size_t word = 0; word < line.bits.size(); ++word) {
            line.in_line_before[word] = static_cast<std::uint16_t>(before - line.before);
            before += std::popcount(line.bits[word]);
        }
    }
}

std::int64_t ColumnSet::before(std::int64_t column) const {
    if (column <= span_.begin) return 0;
    if (column >= span_.end) return count_;
    if (lines_.empty()) return std::lower_bound(list_.begin(), list_.end(), column) - list_.begin();
    const auto at = static_cast<std::size_t>(column - span_.begin);
    const Line& line = lines_[at / Line::columns];
    const std::size_t word = at % Line::columns / 64, bit = at % Line::columns % 64;
    const std::uint64_t lower = line.bits[word] & ((std::uint64_t{1} << bit) - 1);
    return line.before + line.in_line_before[word] + std::popcount(lower);
}

void ColumnTally::clear() {
    if (counting_) std::fill(count_.begin(), count_.end(), 0);
    few_.clear();
    counting_ = sorted_ = false;
}

void ColumnTally::count() {
    count_.resize(static_cast<std::size_t>(columns_), 0);
    for (const std::int32_t column : few_) ++count_[static_cast<std::size_t>(column)];
    few_.clear();
    counting_ = true;
}

void ColumnTally::sort() {
    if (!sorted_) std::sort(few_.begin(), few_.end());
    sorted_ = true;
}

ColumnProfile::ColumnProfile(ColumnTally& tally, Range ones, std::int64_t few_bytes) : ones_(ones) {
    const Levels levels(tally);
    nonzeros_ = ones.size() + levels.nonzeros;
    const std::size_t sets = listed_bytes * levels.columns.front() <= few_bytes ? 0 : levels.thriftiest();
    sets_.reserve(sets);
    for (std::size_t k = 0; k < sets; ++k) sets_.emplace_back(levels.span, levels.columns[k]);
    listed_.reserve(static_cast<std::size_t>(levels.columns[sets]));
    listed_before_.reserve(listed_.capacity() + 1);
    listed_before_.push_back(0);
    tally.each([&](std::int32_t column, std::int64_t count) {
        const auto in_sets = std::min(static_cast<std::size_t>(count), sets);
        for (std::size_t k = 0; k < in_sets; ++k) sets_[k].add(column);
        if (count <= static_cast<std::int64_t>(sets)) return;
        listed_.push_back(column);
        listed_before_.push_back(listed_before_.back() + count - static_cast<std::int64_t>(sets));
    });
    for (ColumnSet& set : sets_) set.finish();
}

std::int64_t ColumnProfile::nonzeros(Range columns) const {
    const auto [low, high] = listed_within(listed_, columns);
    std::int64_t count = intersect(columns, ones_).size() + listed_before_[high] - listed_before_[low];
    for (const ColumnSet& set : sets_) count += set.before(columns.end) - set.before(columns.begin);
    return count;
}

std::int64_t ColumnProfile::met(Range columns) const {
    if (!sets_.empty()) return sets_.front().before(columns.end) - sets_.front().before(columns.begin);
    const auto [low, high] = listed_within(listed_, columns);
    return static_cast<std::int64_t>(high - low);
}

std::vector<std::int64_t> ColumnProfile::nonzeros(const std::vector<Range>& columns) const {
    std::vector<std::int64_t> found;
    found.reserve(columns.size());
    ListedWalk listed(listed_);
    for (const Range& range : columns) {
        if (!sets_.empty()) {
            found.push_back(nonzeros(range));
            continue;
        }
        const auto [low, high] = listed.within(range);
        found.push_back(intersect(range, ones_).size() + listed_before_[high] - listed_before_[low]);
    }
    return found;
}

std::vector<std::int64_t> ColumnProfile::distinct(const std::vector<Range>& columns) const {
    std::vector<std::int64_t> found;
    found.reserve(columns.size());
    ListedWalk listed(listed_);
    for (const Range& range : columns) {
        if (!sets_.empty() || !intersect(range, ones_).empty()) {
            found.push_back(distinct(range));
            continue;
        }
        const auto [low, high] = listed.within(range);
        found.push_back(static_cast<std::int64_t>(high - low));
    }
    return found;
}

std::int64_t ColumnProfile::bytes() const {
    std::int64_t bytes = listed_bytes * std::ssize(listed_) + static_cast<std::int64_t>(sizeof(ColumnProfile));
    for (const ColumnSet& set : sets_) bytes += set.bytes() + static_cast<std::int64_t>(sizeof(ColumnSet));
    return bytes;
}

}  // namespace gnnplan::data
