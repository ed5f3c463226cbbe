// The output of `gnnplan explain --analyze`.
#pragma once

#include "tools/advise/analysis.hpp"

#include <gnnplan/ir/measurement.hpp>

#include <string>

namespace gnnplan::tools {

// Steps, totals by kind of work, and the hint.
std::string analysis_text(const Analysis& analysis, const RunReport& report, bool color);

}  // namespace gnnplan::tools
