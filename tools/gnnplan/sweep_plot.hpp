// A sweep as pictures: epoch time along the main variation, and time against memory.
#pragma once

#include "tools/advise/sweep/sweep.hpp"
#include "tools/advise/sweep/sweep_break_even.hpp"
#include "tools/gnnplan/plot.hpp"

#include <cstddef>
#include <vector>

namespace gnnplan::tools {

// Time along the main variation (left out when nothing varies), one series per combination of the others, with what the
// model cannot tell from the fastest shaded and, along ranks, the line of ideal scaling. Where there are more than
// most_series, one panel per value of another variation, or else the fastest ones only. Then the Pareto fronts of time
// and memory: on the fastest number of ranks, or at the last value of what else varies, or at each when nothing else
// does; with the memory there is.
std::vector<PlotPanel> sweep_panels(const Sweep& sweep);

// The times of the choice now, and of those that other bandwidths of a link would choose, over that bandwidth; lines
// mark the link there is and where the choice changes.
PlotPanel link_panel(const LinkBreakEven& link, const Machine& machine);

}  // namespace gnnplan::tools
