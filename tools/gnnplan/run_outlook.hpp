// The lines of `gnnplan plan` about the run that the plan is for: how long all of it takes, and its memory, while
// tuning too.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/plan.hpp>

#include <string>

namespace gnnplan::tools {

// Lines for people. `graph` is the plan's, in its own numbering; tuning's memory is counted where it is exact.
std::string run_outlook(const Plan& plan, const GraphStats& graph);

}  // namespace gnnplan::tools
