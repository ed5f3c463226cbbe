// Quantiles of the absolute value of a normal deviate, in standard deviations.
#pragma once

namespace gnnplan::cost {

inline constexpr double normal_median = 0.6745;
inline constexpr double normal_80_percent = 1.2816;

}  // namespace gnnplan::cost
