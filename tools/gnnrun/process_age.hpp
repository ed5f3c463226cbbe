// Since when this process runs.
#pragma once

namespace gnnplan::tools {

// Seconds since the system started this process, in steps of a hundredth: before main, and with what a script did
// before it became this program with `exec`. 0 where the system does not tell.
double process_age();

}  // namespace gnnplan::tools
