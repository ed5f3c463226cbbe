// The chosen configuration with the order of products of a layer changed, or with less kept.
#pragma once

#include "planner/search/costed.hpp"

#include <vector>

namespace gnnplan::search {

struct Changed {
    Choice choice;
    bool pinned = false;
    Configuration configuration;
};

// Every layer's other order in either pass; of networks of more than max_single_layers those of the first layer, of the
// last, and of all between them together. The layer's other choices are the best for it. None of networks of more than
// max_varied_layers, where costing them would take as long as a good part of the search.
inline constexpr int max_single_layers = 4;
inline constexpr int max_varied_layers = 16;
std::vector<Changed> other_orders(const Space& space, const Configuration& chosen, const Machine& machine,
                                  NumberedGraphs& graphs);

// Without the aggregated input kept across epochs, and with nothing kept. The paper space keeps what its rule says.
std::vector<Changed> keeping_less(const Space& space, const Configuration& chosen, const Machine& machine,
                                  NumberedGraphs& graphs);

}  // namespace gnnplan::search
