// Whether ranks that write one output together see the same folder.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <string>

namespace gnnplan::tools {

// Collective over the processes, before the work: rank 0 puts a file beside `path`, one that `output` ("--save-layers DIR")
// has, and all others look whether it is where they would write, and whether they may. Nothing is left there. Throws
// Error{cannot_create} on all of them, which names the rank that does not see it.
void check_shared(comm::Communicator& processes, const std::string& output, const std::string& path);

}  // namespace gnnplan::tools
