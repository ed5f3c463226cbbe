// What a run ends with: loss and accuracies, and predicted against measured for each kind of step.
#pragma once

#include <gnnplan/ir/measurement.hpp>

#include <string>

namespace gnnplan::tools {

std::string summary(const RunReport& report, bool color);

}  // namespace gnnplan::tools
