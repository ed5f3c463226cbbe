#include "tools/gnnrun/timeout.hpp"

#include "runtime/comm/launch.hpp"
#include "runtime/comm/launcher.hpp"
#include "tools/common/main.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace gnnplan::tools {
namespace {

// The call of MPI that a rank waits in until the others reach it, in words.
std::string in_mpi(comm::Heartbeat::Stage stage) {
    using enum comm::Heartbeat::Stage;
    return stage == starting  ? "in MPI_Init, which all ranks have to reach: another has stopped, could not start, or "
                                "cannot be reached"
           : stage == joining ? "where MPI makes communicators and shared memory: another has stopped, or has other "
                                "settings of MPI"
                              : "in MPI_Finalize: another has stopped";
}

[[noreturn]] void end_process(const std::string& what) {
    say_error(what);
    std::_Exit(static_cast<int>(ErrorCode::unavailable));
}

}  // namespace

void end_stuck_process(const std::string& where) {
    if (where.empty()) std::_Exit(static_cast<int>(ErrorCode::unavailable));
    end_process(where + " (a longer --timeout waits longer; --resume goes on from the last checkpoint)");
}

std::unique_ptr<run::Watchdog> watch_start(std::int64_t timeout, comm::MpiStart& start) {
    constexpr std::int64_t least = 10;  // seconds, because nobody sees what MPI does meanwhile
    if (timeout > 0) timeout = std::max(timeout, least);
    return run::watch(timeout, {&start.heartbeat()}, {0}, [&start, timeout](const std::string&) {
        // No process sees the others, so the one with the lowest rank prints first, and the launcher ends the others.
        std::this_thread::sleep_for(std::chrono::milliseconds(100) * std::min(comm::rank_of_launcher(), 20));
        const auto stage = static_cast<comm::Heartbeat::Stage>(start.heartbeat().seen().step);
        std::string what = fmt::format("nothing has moved for {} s: rank {} waits ", timeout, comm::rank_of_launcher());
        if (stage != comm::Heartbeat::greeting) end_process(what + in_mpi(stage));
        end_process(what + "for the first answers of others over the network: " + start.answers() +
                    " (where hosts have interfaces with the same address, such as Docker's bridge, leave them out: " +
                    comm::other_interfaces(comm::launcher_here()) + "; a longer --timeout waits longer)");
    });
}

}  // namespace gnnplan::tools
