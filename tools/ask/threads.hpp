// Sets the number of threads of programs that plan.
#pragma once

namespace gnnplan::tools {

// From here on graphs are read with a thread for each processing unit that this process may use, unless OMP_NUM_THREADS
// gives another number; with one thread where the system refuses to start more.
void use_available_threads();

}  // namespace gnnplan::tools
