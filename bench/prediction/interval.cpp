#include "bench/prediction/interval.hpp"

#include <algorithm>
#include <cmath>

namespace gnnplan::bench {
namespace {

constexpr double outside = 0.05;  // chance that the median lies beyond the interval, on either side

// How many of the n smallest, and of the n largest, can be left out: the median lies below the smallest k + 1 values
// when k or fewer of n fair coins show heads.
std::size_t left_out(std::size_t n) {
    const auto count = static_cast<double>(n);
    double chance = std::exp2(-count);  // of exactly k heads
    double up_to = chance;
    std::size_t k = 0;
    while (2 * (k + 1) < n) {
        chance *= (count - static_cast<double>(k)) / static_cast<double>(k + 1);
        if (2 * (up_to + chance) > outside) break;
        up_to += chance;
        ++k;
    }
    return k;
}

}  // namespace

Interval median_interval(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t k = left_out(values.size());
    return {values[k], values[values.size() - 1 - k]};
}

}  // namespace gnnplan::bench
