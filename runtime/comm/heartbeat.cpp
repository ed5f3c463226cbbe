#include "runtime/comm/heartbeat.hpp"

#include <pthread.h>
#include <unistd.h>

namespace gnnplan::comm {

void Heartbeat::belongs_to_caller() {
    clockid_t clock = -1;
    if (pthread_getcpuclockid(pthread_self(), &clock) == 0) clock_.store(clock, std::memory_order_relaxed);
    process_.store(::getpid(), std::memory_order_relaxed);
}

std::chrono::nanoseconds Heartbeat::processor_time() const {
    timespec used{};
    if (::clock_gettime(clock_.load(std::memory_order_relaxed), &used) != 0) return {};
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace gnnplan::comm
