// Threads of programs that plan.
#pragma once

namespace gnnplan::tools {

// What reads graphs takes all processing units from here on that this process may use, unless OMP_NUM_THREADS says
// otherwise; where the system refuses the threads, one.
void use_available_threads();

}  // namespace gnnplan::tools
