// Rule: replication of the adjacency. R_A copies, each split over P / R_A row panels (RDM section III-E).
#pragma once

#include <vector>

namespace gnnplan::enumerate {

// Every R_A that divides the ranks, increasing.
std::vector<int> replications(int ranks);

// Throws Error{usage} unless 1 <= replication <= ranks and replication divides ranks.
void check_replication(int replication, int ranks);

}  // namespace gnnplan::enumerate
