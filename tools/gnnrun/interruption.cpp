#include "tools/gnnrun/interruption.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace gnnplan::tools {
namespace {

constexpr std::array<std::pair<int, const char*>, 5> caught{
    {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"}, {SIGHUP, "SIGHUP"}}};

// A signal handler can reach nothing but what is global.
std::atomic<int> received = 0;
std::atomic<const char*> first_answer = nullptr;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

// A second signal, whichever it is, ends the process at once.
extern "C" void remember(int signal) {
    if (received.exchange(signal) == 0) {
        const char* const answer = first_answer;
        if (answer != nullptr && ::write(STDERR_FILENO, answer, std::strlen(answer)) < 0) errno = 0;  // nobody hears it
        return;
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

}  // namespace

void catch_interruptions(const char* answer) {
    first_answer = answer;
    struct sigaction action = {};
    action.sa_handler = remember;
    action.sa_flags = SA_RESTART;
    for (const auto& [signal, name] : caught) {
        struct sigaction before = {};
        sigaction(signal, nullptr, &before);
        if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;  // nohup
        sigaction(signal, &action, nullptr);
    }
}

std::optional<std::string> interruption() {
    for (const auto& [signal, name] : caught) {
        if (received == signal) return std::string("interrupted by ") + name;
    }
    return std::nullopt;
}

}  // namespace gnnplan::tools
