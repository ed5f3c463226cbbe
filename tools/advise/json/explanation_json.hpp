// The output of `gnnplan explain --json`: gnnplan.explanation/1.
#pragma once

#include "planner/io/document.hpp"
#include "tools/advise/explanation.hpp"

namespace gnnplan::tools {

// `explanation` is of the plan's first candidate.
io::Document encode(const Plan& plan, const Explanation& explanation);

}  // namespace gnnplan::tools
