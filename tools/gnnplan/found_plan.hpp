// The search that `gnnplan plan` makes, for all doors that make a plan.
#pragma once

#include "tools/ask/problem.hpp"
#include "tools/common/run_question.hpp"

#include <gnnplan/select.hpp>

#include <string>
#include <vector>

namespace gnnplan::tools {

// Searches for the runs that are asked about, whose record `loaded` gets. The plan that is found says which data it is
// for, and that this command line made it. Throws what note_data() throws.
SelectResult find_plan(LoadedProblem& loaded, const RunQuestion& run, const Machine& machine,
                       const SelectOptions& options, const std::string& command_line);

// The notes on a plan that was found, in whole lines: on pins that have no effect, and on a number of ranks on a node
// that the machine was not measured with.
std::vector<std::string> found_notes(const Plan& plan, const Machine& machine, const SelectOptions& pins,
                                     const Shape& shape);

}  // namespace gnnplan::tools
