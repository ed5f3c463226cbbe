// The Pareto front of the paper's units for networks whose 4^L orders are too many to list.
#pragma once

#include "planner/enumerate/orders.hpp"

#include <gnnplan/ir/cost.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan::enumerate {

struct FrontMember {
    OrderPair orders;
    Units units;
};

// The orders that no others beat (<= in both units and < in one), by increasing redistribution; one stands for orders
// with the same units. Exact, by dynamic programming over the layers. Throws Error{usage} where the widths differ in so
// many ways that the front does not fit in memory.
std::vector<FrontMember> paper_front(const std::vector<std::int64_t>& widths);

}  // namespace gnnplan::enumerate
