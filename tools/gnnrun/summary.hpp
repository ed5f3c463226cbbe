// The summary of a run: loss and accuracies, and predicted against measured for each kind of step.
#pragma once

#include <gnnplan/ir/measurement.hpp>

#include <string>

namespace gnnplan::tools {

// Predicted times have the digits that those of `machine` deserve.
std::string summary(const RunReport& report, const Machine& machine, bool color);

}  // namespace gnnplan::tools
