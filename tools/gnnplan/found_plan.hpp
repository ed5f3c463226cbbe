// The search that `gnnplan plan` makes, for all doors that make a plan.
#pragma once

#include "tools/ask/problem.hpp"
#include "tools/common/run_question.hpp"

#include <gnnplan/select.hpp>

#include <string>

namespace gnnplan::tools {

// Searches for the runs that are asked about, whose record `loaded` gets. The plan that is found says which data it is
// for, and that this command line made it. Throws what note_data() throws.
SelectResult find_plan(LoadedProblem& loaded, const RunQuestion& run, const Machine& machine,
                       const SelectOptions& options, const std::string& command_line);

}  // namespace gnnplan::tools
