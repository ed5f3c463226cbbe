// Checks whether ranks that write one output together see the same folder.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <string>

namespace gnnplan::run {

// Collective over the processes, before the work: rank 0 puts a file beside `path`, a file of `output` ("`save-layers`
// DIR"), and each other process checks that it sees that file and may write there. The file is removed. Throws
// Error{cannot_create} on all processes, which names a rank that does not see the folder or may not write.
void check_shared(comm::Communicator& processes, const std::string& output, const std::string& path);

}  // namespace gnnplan::run
