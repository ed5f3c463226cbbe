// The orders of a product by the letters that the paper gives them.
#pragma once

#include <gnnplan/ir/config.hpp>

namespace gnnplan::letters {

inline constexpr auto S = Order::sparse_first;
inline constexpr auto D = Order::dense_first;

}  // namespace gnnplan::letters
