// The messages of ranks while they load a graph in shares.
#pragma once

#include <gnnplan/ir/plan.hpp>

#include <string>

namespace gnnplan::tools {

// Reads the graph's file once more, as the ranks of the plan will, and notes in each candidate what they send. Does
// nothing for candidates that load the graph whole.
void predict_dealing(Plan& plan, const std::string& path);

}  // namespace gnnplan::tools
