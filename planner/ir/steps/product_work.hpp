// The work of a rank in a product, in two parts, because counting nonzeros takes a query for each piece, and products
// of all widths multiply the same nonzeros.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/schedule.hpp>
#include <gnnplan/ir/work.hpp>

#include <cstdint>

namespace gnnplan {

// Nonzeros that a rank multiplies: those of its rows in the columns of its pieces.
std::int64_t multiplied_nonzeros(const Schedule& schedule, TensorId matrix, const GraphStats& graph, int rank);

// The work of a product of so many nonzeros.
RankWork product_work(const Schedule& schedule, const SpmmStep& product, const GraphStats& graph, int rank,
                      std::int64_t nonzeros);

}  // namespace gnnplan
