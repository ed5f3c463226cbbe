// Rule: operation orders. Every layer and pass multiplies by the sparse matrix or by the weights first (RDM section
// IV-B).
#pragma once

#include <gnnplan/ir/config.hpp>

#include <vector>

namespace gnnplan::enumerate {

// The deepest network whose 4^L orders are listed.
inline constexpr int max_listed_layers = 6;

struct OrderPair {
    Orders forward;   // layers 1 .. L
    Orders backward;  // layers L .. 1
};

// All 4^L orders, by paper id. Throws Error{usage} beyond max_listed_layers.
std::vector<OrderPair> all_orders(int layers);

}  // namespace gnnplan::enumerate
