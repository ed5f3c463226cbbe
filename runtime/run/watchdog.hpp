// Ends a run in which a rank has stopped: on a stuck file system, stopped by a signal, or gone with its network.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <gnnplan/ir/schedule.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gnnplan::run {

// Watches the ranks of this process from a thread of its own.
class Watchdog {
public:
    // When no rank of `all` that can be seen has made progress for `timeout`, without the time for which this process
    // was suspended, `end` is called once, on the watchdog's thread, with a sentence that says which rank was last seen
    // where, or with "" if another process says it. A rank makes progress when it does a step; outside steps (and where
    // it is alone) also when it computes, reads, or stops waiting for others; the watchdog of its process finds that
    // out and shows it to the others. `mine` are the ranks of this process. The heartbeats outlive the watchdog.
    Watchdog(std::chrono::nanoseconds timeout, std::vector<comm::Heartbeat*> all, std::vector<int> mine,
             std::function<void(const std::string&)> end);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    // The schedule that trains now, from which steps have their names.
    void steps_of(const Schedule& schedule);

private:
    // The counters of a rank of this process when it was last looked at.
    struct Looked {
        std::chrono::nanoseconds processor_time{};
        std::uint64_t waited = 0;
    };

    bool gets_on(const comm::Heartbeat& rank, Looked& before) const;
    bool stuck(std::chrono::nanoseconds awake_since) const;
    std::size_t last_seen() const;
    std::string describe();
    std::string place_of(const comm::Heartbeat::Seen& seen);
    void end();
    void watch();

    std::chrono::nanoseconds timeout_;
    std::vector<comm::Heartbeat*> all_;
    std::vector<int> mine_;
    std::vector<Looked> looked_;  // of each of them
    std::function<void(const std::string&)> end_;
    std::mutex mutex_;  // guards what follows
    std::vector<std::string> names_;
    bool done_ = false;
    std::condition_variable wake_;
    std::thread thread_;  // the last, because it uses the others
};

// A watchdog with a timeout in seconds; null where that is 0. Throws Error{unavailable} where there is no thread for
// it.
std::unique_ptr<Watchdog> watch(std::int64_t timeout_seconds, std::vector<comm::Heartbeat*> all, std::vector<int> mine,
                                std::function<void(const std::string&)> end);

}  // namespace gnnplan::run
