// A machine that was calibrated, whose curves stand in for those of a machine that was only probed.
#pragma once

#include <gnnplan/ir/machine.hpp>

namespace gnnplan::catalog {

// cpu-node's links between nodes, and the curves of two ranks of one thread on a two-core AMD EPYC (Zen 5), both busy.
// cost::rescaled makes a probed machine of it.
Machine reference_machine();

}  // namespace gnnplan::catalog
