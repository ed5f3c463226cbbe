// Makes allocations fail where memory is missing, rather than the first access to them.
#pragma once

namespace gnnplan::tools {

// From here on, allocations of this process fail where they would go beyond the memory of the machine or the container:
// the process then ends with an error that says so, and is not killed by the system. `threads` is the number of threads
// that this process will have; room for their stacks is added to the limit.
void limit_memory(int threads);

}  // namespace gnnplan::tools
