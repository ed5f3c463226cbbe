// The load of other programs on the cores: looked at before a calibration, and judged after it.
#pragma once

#include "runtime/calibrate/load.hpp"

#include <string>

namespace gnnplan::tools {

// The load by other programs, as the system tells, or as $GNNPLAN_BUSY says of their share, for tests: "0.3", or
// "0:0.3" for 0 before and 0.3 while measuring.
calibrate::Load told_load(calibrate::Load measured);

// Whether they took so much that the figures are not the machine's.
bool too_busy(const calibrate::Load& load);
// "other programs took 78 % of the cores while measuring (load 10.4 on 2 cores)"
std::string busy_text(const calibrate::Load& load, const char* when = "while measuring");

// Throws Error{usage} where ranks have so many more threads than there are cores that measuring would take far longer
// than is said of it.
void check_threads(int ranks, int threads, int cores);

// Does the same for the ranks of a node, and looks at the cores for two seconds in which the ranks do nothing: throws
// AgreedError{answer_no} where other programs keep them busy. Collective.
void check_cores(comm::Communicator& comm, const calibrate::Nodes& nodes, bool processes, int threads);

}  // namespace gnnplan::tools
