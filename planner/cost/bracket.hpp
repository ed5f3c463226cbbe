// Interpolation between measured values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gnnplan {

// Where x lies among ascending values, of which there are some: between two of them, or at one end of them.
struct Bracket {
    std::size_t low = 0;
    std::size_t high = 0;
    double share = 0;  // of the way from low to high
};

inline Bracket bracket(const std::vector<double>& values, double x) {
    const auto above = static_cast<std::size_t>(std::ranges::lower_bound(values, x) - values.begin());
    if (above == 0) return {};
    if (above == values.size()) return {above - 1, above - 1, 0};
    return {above - 1, above, (x - values[above - 1]) / (values[above] - values[above - 1])};
}

inline double between(double low, double high, double share) { return low + share * (high - low); }

}  // namespace gnnplan
