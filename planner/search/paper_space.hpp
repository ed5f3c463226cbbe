// The paper space: RDM's configurations as the paper counts them, on every R_A that divides the ranks; or another
// published scheme, whose products all start with the sparse matrix.
#pragma once

#include "planner/search/costed.hpp"

namespace gnnplan::search {

// Networks up to this depth have every configuration costed; deeper ones only the Pareto front of what fits in memory.
inline constexpr int max_fully_costed_layers = 3;

// One configuration on one grid, not costed yet.
struct PaperMember {
    Configuration configuration;
    Units units;
};
std::vector<PaperMember> list_paper_space(const Space& space, const Distribution& grid);

// Every costed configuration with its schedule, in no particular order.
std::vector<EvaluatedCandidate> cost_paper_space(const Space& space, const Machine& machine, NumberedGraphs& graphs);

}  // namespace gnnplan::search
