// Elementwise steps that a dense product does itself, to rows of its result that are still in cache.
#pragma once

#include <gnnplan/ir/schedule.hpp>

namespace gnnplan {

// Marks them in a schedule that is whole otherwise: GemmStep::then, MapStep::done_before; none where the machine does
// not finish products (Blocking). An activation, the gradient of one or a mask follows a product in the same phase, in
// place of its result; nothing uses that in between, nor makes what the step needs besides; and a mask that the step
// makes does not lie where the product's operand lies, as nothing is between them and the operand is used later. Files
// do not say it: it follows from the steps.
void mark_finishes(Schedule& schedule);

}  // namespace gnnplan
