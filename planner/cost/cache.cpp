#include "planner/cost/cache.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gnnplan::cost {

std::int64_t gathered_cache_bytes(const Machine& machine) {
    constexpr std::int64_t width = 128;
    constexpr double falls = 1.5;  // best over worst: less is no cache's doing
    if (!machine.calibration || machine.calibration->gather.empty()) return 0;
    const auto& curves = machine.calibration->gather;
    const auto curve = std::min_element(curves.begin(), curves.end(), [](const GatherCurve& a, const GatherCurve& b) {
        return std::abs(a.width - width) < std::abs(b.width - width);
    });
    if (curve->costs.empty()) return 0;
    const auto by_cost = [](const GatherCost& a, const GatherCost& b) {
        return a.seconds_per_nonzero < b.seconds_per_nonzero;
    };
    const auto [best, worst] = std::minmax_element(curve->costs.begin(), curve->costs.end(), by_cost);
    if (worst->seconds_per_nonzero < falls * best->seconds_per_nonzero) return 0;
    const double limit = std::sqrt(best->seconds_per_nonzero * worst->seconds_per_nonzero);
    std::int64_t largest = 0;
    for (const GatherCost& cost : curve->costs) {
        if (cost.seconds_per_nonzero < limit) largest = std::max(largest, cost.working_set_bytes);
    }
    return largest;
}

}  // namespace gnnplan::cost
