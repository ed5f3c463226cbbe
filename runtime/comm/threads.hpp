// Ranks as threads of this process: distributed code without a launcher, and distributed tests as ordinary unit tests.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <functional>

namespace gnnplan::comm {

// Runs body(communicator) on `ranks` threads, one per rank, and joins them.
// If ranks throw, the exception of the lowest rank with a cause of its own is rethrown here; ranks that wait for a
// failed one, or come to wait later, are released with an error, so that nothing hangs. The communicators live until
// body returns.
void run_ranks(int ranks, const std::function<void(Communicator&)>& body);

}  // namespace gnnplan::comm
