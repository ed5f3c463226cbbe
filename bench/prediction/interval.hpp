// How sure the median of repeated measurements is.
#pragma once

#include <cstddef>
#include <vector>

namespace gnnplan::bench {

struct Interval {
    double low = 0;
    double high = 0;
};

// Values that are needed for a median to lie between two of them with a confidence of 95 %.
constexpr std::size_t least_values = 6;

// The two of the values between which the median of what they were drawn from lies with a confidence of 95 % or more,
// whatever its distribution: order statistics, as near to the middle as that allows (David and Nagaraja, "Order
// Statistics", section 7.1). For fewer than `least_values` these are the smallest and the largest, with less
// confidence. There is at least one value, and each was drawn independently of the others.
Interval median_interval(std::vector<double> values);

}  // namespace gnnplan::bench
