// The text that `gnnplan plan` prints for people.
#pragma once

#include "tools/advise/plan_text.hpp"

#include <gnnplan/select.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::tools {

// The answer, then graph, model, machine and how large the search was.
std::string plan_header(const ProblemRecord& problem, const Machine& machine, const Selection& selection);
// The best of each scheme and the rest of the `top` fastest, what their words mean, what is not shown and why, and how
// sure that is. `objectives`: what the search marked the front over.
std::string plan_table(const Selection& selection, const std::vector<Objective>& objectives, std::int64_t top,
                       bool color);
// For accelerators, the memory of loading on their hosts, and whether the best plan leaves a device some; else "".
std::string memory_lines(const Selection& selection, const GraphStats& graph);

}  // namespace gnnplan::tools
