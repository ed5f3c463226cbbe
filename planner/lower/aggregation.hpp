// The aggregation of a product: the sums over the neighbours of each vertex, and the part of the vertex itself.
#pragma once

#include "planner/lower/builder.hpp"

#include <optional>
#include <string>

namespace gnnplan::lower {

// The product of a site with the matrix, as often as it aggregates, with what it adds of the vertices themselves: `own`
// where the result is, if that is at hand.
TensorId multiply(Builder& builder, const std::string& at, const Site& site, Direction direction, TensorId in,
                  const std::string& out, std::optional<TensorId> own = {});

// The gradient of a product's e, <left, right>, both in R or both in C, and its update.
void update_epsilon(Builder& builder, const std::string& step, const Site& product, TensorId left, TensorId right);

}  // namespace gnnplan::lower
