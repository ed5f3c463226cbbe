// How soon a product with a block of a graph's matrix comes back to the rows of its dense operand.
#pragma once

#include "runtime/graph/csr.hpp"
#include "runtime/graph/order.hpp"

#include <gnnplan/base/range.hpp>
#include <gnnplan/ir/graph_stats.hpp>

#include <cstdint>

namespace gnnplan::data {

// GraphStats::reuse of the graph, in one scan of the rows. The times between uses of each row, in nonzeros, are counted
// all; distances follow from the average footprint (Xiang, Ding, Luo, Bao, "HOTL", ASPLOS 2013): a row used t nonzeros
// ago has as many other rows in between as a window of t - 1 nonzeros uses on average over all windows of its panel.
// Exact in the mean for uniformly random columns; where the numbering mixes tight and wide stretches, distances of both
// drift towards each other. `order` as in block.hpp.
ReuseHistogram reuse_histogram(const Graph& graph, MatrixId which, Range rows, Range columns,
                               std::int64_t panel_columns, const VertexOrder* order = nullptr);

}  // namespace gnnplan::data
