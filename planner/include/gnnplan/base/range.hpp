// Half-open index ranges and the project's one block rule.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gnnplan {

struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;

    std::int64_t size() const { return end - begin; }
    bool empty() const { return end <= begin; }
    bool operator==(const Range&) const = default;
};

inline Range intersect(Range a, Range b) {
    const std::int64_t begin = std::max(a.begin, b.begin);
    return {begin, std::max(begin, std::min(a.end, b.end))};
}

// Block i of `range` cut into k balanced contiguous blocks: the first (n mod k) blocks hold one item more.
// Block i of n items starts at i * floor(n / k) + min(i, n mod k).
inline Range balanced_block(Range range, std::int64_t i, std::int64_t k) {
    const std::int64_t n = range.size();
    const auto start = [&](std::int64_t j) { return range.begin + j * (n / k) + std::min(j, n % k); };
    return {start(i), start(i + 1)};
}

}  // namespace gnnplan
