// Memory that is not there is refused where it is asked for, not where it is touched.
#pragma once

namespace gnnplan::tools {

// From here on allocations of this process fail where they would go beyond what the machine, or the container, allows:
// then there is an error that says so, in place of a process that the system kills. `threads`: that this process will
// have, whose stacks lie beside the rest.
void limit_memory(int threads);

}  // namespace gnnplan::tools
