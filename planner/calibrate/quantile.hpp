// Order statistics of measurements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace gnnplan::calibrate {

// The value below which `share` of the values are, interpolated; 0 for no values.
inline double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    const double place = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (place - std::floor(place)) * (values[high] - values[low]);
}

inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace gnnplan::calibrate
