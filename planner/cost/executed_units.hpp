// Units a schedule really performs, to lay beside the paper's.
#pragma once

#include <gnnplan/ir/cost.hpp>
#include <gnnplan/ir/schedule.hpp>

namespace gnnplan::cost {

// Sum of widths over the redistributions and SpMMs of one epoch. Bits count as 1 / 32 of a float, pruned rows by
// their share of the vertices.
Units executed_units(const Schedule& schedule);

}  // namespace gnnplan::cost
