// The output of `gnnplan explain --analyze --json`: gnnplan.analysis/1.
#pragma once

#include "planner/io/document.hpp"
#include "tools/advise/analysis.hpp"

#include <gnnplan/ir/measurement.hpp>

namespace gnnplan::tools {

io::Document encode(const Analysis& analysis, const RunReport& report);

}  // namespace gnnplan::tools
