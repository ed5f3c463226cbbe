// How a machine has changed between two probes, in words.
#pragma once

#include <gnnplan/ir/probe.hpp>

#include <string>

namespace gnnplan::tools {

// "dense products run at 1.01, copies at 0.62, gathering at 0.80 (near) and 0.61 (far) and messages at 0.66 of the
// rates that the calibration saw".
std::string change_text(const ProbeFigures& then, const ProbeFigures& now);

// Whether a figure has changed since `then` by more than it spread while the machine was calibrated, and by more than a
// twentieth.
bool has_changed(const ProbeReference& calibrated, const ProbeFigures& then, const ProbeFigures& now);

}  // namespace gnnplan::tools
