#include "tools/gnnrun/interruption.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr std::array<std::pair<int, const char*>, 4> caught{
    {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"}}};

// A signal handler can reach nothing but what is global.
std::atomic<int> received = 0;
static_assert(std::atomic<int>::is_always_lock_free);

// A second signal, whichever it is, ends the process at once.
extern "C" void remember(int signal) {
    if (received.exchange(signal) == 0) return;
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

}  // namespace

void catch_interruptions() {
    struct sigaction action = {};
    action.sa_handler = remember;
    action.sa_flags = SA_RESTART;
    for (const auto& [signal, name] : caught) sigaction(signal, &action, nullptr);
}

std::optional<std::string> interruption() {
    for (const auto& [signal, name] : caught) {
        if (received == signal) return std::string("interrupted by ") + name;
    }
    return std::nullopt;
}

}  // namespace gnnplan::tools
