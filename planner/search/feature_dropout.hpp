// The cost of dropout on the features: the answer to the same question where runs treat their features otherwise.
#pragma once

#include "planner/search/costed.hpp"

#include <gnnplan/select.hpp>

namespace gnnplan::search {

// select() with the graph in the numberings that an earlier search on it has asked for.
SelectResult select_on(NumberedGraphs& graphs, const Problem& problem, const Machine& machine,
                       const SelectOptions& options);

// Adds the best of select_otherwise() to the alternatives of the selection's plan, or says why nothing fits then.
void add_feature_dropout(Selection& selection, const Problem& problem, const Machine& machine,
                         const SelectOptions& options, NumberedGraphs& graphs);

}  // namespace gnnplan::search
