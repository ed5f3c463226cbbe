#include "planner/enumerate/replication.hpp"

#include <gnnplan/base/error.hpp>

namespace gnnplan::enumerate {

std::vector<int> replications(int ranks) {
    std::vector<int> divisors;
    for (int r = 1; r <= ranks; ++r) {
        if (ranks % r == 0) divisors.push_back(r);
    }
    return divisors;
}

void check_replication(int replication, int ranks) {
    if (ranks < 1) throw Error(ErrorCode::usage, "ranks must be at least 1, not " + std::to_string(ranks), "`ranks`");
    if (replication >= 1 && ranks % replication == 0) return;
    std::string divisors;
    for (const int r : replications(ranks)) divisors += (divisors.empty() ? "" : ", ") + std::to_string(r);
    throw Error(ErrorCode::usage,
                "R_A = " + std::to_string(replication) + " does not divide " + std::to_string(ranks) + " ranks",
                "`replication`", "possible: " + divisors);
}

}  // namespace gnnplan::enumerate
