// Time of a product over nonzeros where gather curves were calibrated.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/machine.hpp>
#include <gnnplan/ir/schedule.hpp>
#include <gnnplan/ir/work.hpp>

#include <cstdint>

namespace gnnplan::cost {

// Seconds of the `multiplied` nonzeros and rows of a product on a rank: a sum of all that it gathers, and what its
// program takes besides, with some of its weights dropped or without. Nothing where the machine has no gather curves.
double product_seconds(const Schedule& schedule, const SpmmStep& product, const GraphStats& graph,
                       const Machine& machine, int rank, std::int64_t multiplied, bool dropout);

// The same where it is known how the product comes back to rows; the machine has gather curves.
double seconds_of_reuse(const Schedule& schedule, const SpmmStep& product, const SpmmReuse& reuse,
                        const Machine& machine, int rank, std::int64_t multiplied, bool dropout);

}  // namespace gnnplan::cost
