// Units of a configuration as the RDM paper counts them (sections III and IV, with the errata of docs/cost-model.md).
#pragma once

#include "planner/enumerate/orders.hpp"

#include <gnnplan/ir/cost.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace gnnplan::enumerate {

// Redistribution and sparse units of one epoch. `widths` is f_0 .. f_L, L the length of both passes' orders.
Units paper_units(const OrderPair& orders, const std::vector<std::int64_t>& widths);

// True where no other entry is <= in both units and < in one; ties are all true.
std::vector<bool> pareto_front(std::span<const Units> units);

}  // namespace gnnplan::enumerate
