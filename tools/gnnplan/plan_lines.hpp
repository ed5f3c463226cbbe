// Lines about the graph that a plan makes of the one that was read; "" where it makes none.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/plan.hpp>

#include <string>

namespace gnnplan::tools {

std::string balance_line(const Plan& plan, const GraphStats& graph);
std::string cut_line(const Plan& plan, const GraphStats& graph);
std::string samples_lines(const Plan& plan, const GraphStats& graph);
// The part of an update that comes before its steps.
std::string batch_seconds_line(const Plan& plan);

}  // namespace gnnplan::tools
