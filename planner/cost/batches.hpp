// Time of an update of batches, before its steps.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/layout.hpp>
#include <gnnplan/ir/machine.hpp>

#include <cstdint>

namespace gnnplan::cost {

// Seconds of a rank for drawing the batches of its group, cutting their blocks, and filling its columns of their
// features. `graph` answers in a numbering of batches.
double batch_seconds(const Batches& batches, const Grid& grid, std::int64_t features, const GraphStats& graph,
                     const Machine& machine);

}  // namespace gnnplan::cost
