// Plans name the data that they were made for.
#pragma once

#include "tools/ask/problem.hpp"

#include <gnnplan/ir/plan.hpp>

namespace gnnplan::tools {

// Notes in the plan for a graph that was read which data that is: fingerprints of graph, features, labels and split
// and, in each candidate that loads the graph in shares, the bytes that ranks send meanwhile. Reads all features, and
// for shares the graph's file once more. Throws Error{data} where a feature is not finite. Does nothing for sizes.
void note_data(Plan& plan, const LoadedProblem& loaded);

}  // namespace gnnplan::tools
