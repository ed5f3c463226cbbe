// A sweep as pictures: epoch time along the main variation, and time against memory.
#pragma once

#include "tools/gnnplan/plot.hpp"
#include "tools/gnnplan/sweep.hpp"

#include <vector>

namespace gnnplan::tools {

// Time along the main variation, one series per combination of the others (left out when nothing varies), then the
// Pareto fronts of time and memory: at the last setting of the main variation, or at each when nothing else varies.
std::vector<PlotPanel> sweep_panels(const Sweep& sweep);

}  // namespace gnnplan::tools
