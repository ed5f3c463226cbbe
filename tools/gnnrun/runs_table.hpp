// Several runs that differ in their seed, as a table.
#pragma once

#include <gnnplan/ir/measurement.hpp>

#include <string>

namespace gnnplan::tools {

// A line for each seed, and one for the mean and the standard deviation of their scores.
std::string runs_table(const RunReport& report, bool color);

}  // namespace gnnplan::tools
