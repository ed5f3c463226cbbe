// Whether a run took all its epochs in one go, in words.
#pragma once

#include <gnnplan/ir/measurement.hpp>

#include <string>

namespace gnnplan::tools {

// "ended early: interrupted by SIGTERM after epoch 120 of 200"; "" of a run that took all its epochs. How many were
// asked for is left out where the report does not say.
std::string ending_text(const RunReport& report);

// The same after what a resumed run went on from, and which epochs its times are of; "" of a run that took all its
// epochs in one go.
std::string course_text(const RunReport& report);

}  // namespace gnnplan::tools
