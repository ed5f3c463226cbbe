// The configurations of a problem, with their schedules and predictions.
#pragma once

#include "planner/search/costed.hpp"

#include <gnnplan/select.hpp>

#include <string>
#include <vector>

namespace gnnplan::bench {

struct FieldOptions {
    SearchSpace space = SearchSpace::full;
    std::vector<std::string> schemes;  // empty: all that the space searches
    std::int64_t most = 0;             // how many are run; 0: all that fit in the machine's memory
};

// What takes part: at most `most` of the space's configurations, fastest prediction first (sample.hpp), each predicted
// in the graph's exact counts. Writes to `listed` how many there are to choose from. Throws Error like select().
std::vector<Candidate> choose_field(const Problem& problem, const Machine& machine, const FieldOptions& options,
                                    search::NumberedGraphs& graphs, std::size_t& listed);

}  // namespace gnnplan::bench
