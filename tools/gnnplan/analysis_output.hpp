// What `gnnplan explain --analyze` prints.
#pragma once

#include "planner/io/document.hpp"
#include "tools/advise/analysis.hpp"

#include <gnnplan/ir/measurement.hpp>

#include <string>

namespace gnnplan::tools {

// Steps, totals by kind of work, and the hint.
std::string analysis_text(const Analysis& analysis, const RunReport& report, bool color);

// The same as gnnplan.analysis/1.
io::Document encode(const Analysis& analysis, const RunReport& report);

}  // namespace gnnplan::tools
