// The time of a step of the executor besides its work.
#pragma once

#include "runtime/calibrate/setting.hpp"

#include <gnnplan/ir/profile.hpp>

namespace gnnplan::tools {

// "step", at {steps}: the time of a step where there is next to nothing to do, from epochs of a tiny graph that each
// rank trains for itself. Collective.
Sample measure_step(const calibrate::Setting& setting);

}  // namespace gnnplan::tools
