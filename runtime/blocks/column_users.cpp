#include "runtime/blocks/column_users.hpp"

#include <algorithm>
#include <bit>

namespace gnnplan::data {

void ColumnUsers::add(std::size_t range, ColumnTally& tally, Range ones) {
    const std::uint64_t bit = std::uint64_t{1} << range;
    tally.each([&](std::int32_t column, std::int64_t) { users_.emplace_back(column, bit); });
    for (std::int64_t column = ones.begin; column < ones.end; ++column)
        users_.emplace_back(static_cast<std::int32_t>(column), bit);
}

void ColumnUsers::finish() {
    std::sort(users_.begin(), users_.end());
    std::size_t kept = 0;
    for (const auto& [column, bits] : users_) {
        if (kept > 0 && users_[kept - 1].first == column) {
            users_[kept - 1].second |= bits;
        } else {
            users_[kept++] = {column, bits};
        }
    }
    users_.resize(kept);
    users_.shrink_to_fit();
}

const std::vector<std::int64_t>& ColumnUsers::by_next(Range columns) {
    const auto [entry, is_new] = known_.try_emplace({columns.begin, columns.end});
    if (is_new) entry->second = count(columns);
    return entry->second;
}

std::vector<std::int64_t> ColumnUsers::count(Range columns) const {
    std::vector<std::int64_t> found(ranges_ * ranges_, 0);
    const auto first = std::lower_bound(users_.begin(), users_.end(), columns.begin,
                                        [](const auto& user, std::int64_t column) { return user.first < column; });
    for (auto user = first; user != users_.end() && user->first < columns.end; ++user) {
        for (std::uint64_t bits = user->second; bits != 0; bits &= bits - 1) {
            const auto range = static_cast<std::size_t>(std::countr_zero(bits));
            const std::uint64_t behind = bits & (bits - 1);
            const std::size_t next = behind == 0 ? range : static_cast<std::size_t>(std::countr_zero(behind));
            ++found[range * ranges_ + next];
        }
    }
    return found;
}

}  // namespace gnnplan::data
