// --timeout: ends this process, with words, where nothing moves; the launcher then ends the others.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/comm/mpi_start.hpp"
#include "runtime/run/watchdog.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace gnnplan::tools {

// Ends the process with ErrorCode::unavailable. Prints `where` nothing moves, and how to go on; nothing where it is
// empty.
[[noreturn]] void end_stuck_process(const std::string& where);

// Watches the time in which MPI starts or ends, which may take ten seconds in any case; null where `timeout`, in
// seconds, is 0. `start` outlives the watchdog.
std::unique_ptr<run::Watchdog> watch_start(std::int64_t timeout, comm::MpiStart& start);

}  // namespace gnnplan::tools
