// From values to places on an axis.
#pragma once

#include "tools/gnnplan/plot.hpp"

#include <vector>

namespace gnnplan::tools {

// Values from `low` to `high` lie from `begin` to `end` pixels (either may be the larger).
struct PlotScale {
    double low = 0, high = 1;
    bool log = false;
    double begin = 0, end = 1;

    double pixel(double value) const;
};

// Covers the values with a margin. Linear axes of values that are not negative start at 0 when `from_zero`.
PlotScale fit_scale(const std::vector<double>& values, bool log, bool from_zero, double begin, double end);

// Round values of the scale: 1, 2 and 5 times powers of ten; on a logarithmic one 3 and 7 times them, too, where there
// is room. Between 3 and about 8 of them.
std::vector<PlotTick> choose_ticks(const PlotScale& scale);

// Where a logarithmic scale of up to four decades has marks without a text: 1, 2, .. 9 times powers of ten.
std::vector<double> minor_ticks(const PlotScale& scale);

// Whether a logarithmic axis shows these values better: all positive, and the largest at least 4 times the least.
bool wants_log(const std::vector<double>& values);

// Makes the axes of a panel logarithmic where that shows its points better; x only where it has numbers.
void choose_logs(PlotPanel& panel, bool x_numbers);

}  // namespace gnnplan::tools
