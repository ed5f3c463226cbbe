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

extern "C" void remember(int signal) { received = signal; }

}  // namespace

void catch_interruptions() {
    struct sigaction action = {};
    action.sa_handler = remember;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    for (const auto& [signal, name] : caught) sigaction(signal, &action, nullptr);
}

std::optional<std::string> interruption() {
    for (const auto& [signal, name] : caught) {
        if (received == signal) return std::string("interrupted by ") + name;
    }
    return std::nullopt;
}

}  // namespace gnnplan::tools
