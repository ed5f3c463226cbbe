// The rows behind cards(): figures exactly as the publications print them.
#pragma once

#include <vector>

#include "planner/catalog/cards.hpp"

namespace gnnplan::catalog {

// All cards with their nonzeros filled in; variants of a data set are neighbours, the default one first.
std::vector<Card> make_card_table();

}  // namespace gnnplan::catalog
