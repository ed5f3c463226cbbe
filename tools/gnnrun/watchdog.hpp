// Ends a run in which a rank has stopped: on a stuck file system, stopped by a signal, or gone with its network.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <gnnplan/ir/schedule.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gnnplan::tools {

// Watches, from a thread of its own, the ranks of this process while epochs are trained.
class Watchdog {
public:
    // In place of a step: a candidate is being built.
    static constexpr std::int32_t building = -1;

    // When none of `mine` has done a step for `timeout`, not counting the time for which this process was suspended,
    // `end` is called once, on the watchdog's thread, with a sentence that says which rank of `all` was last seen
    // where; with none if another process says it. The heartbeats outlive the watchdog.
    Watchdog(std::chrono::nanoseconds timeout, std::vector<comm::Heartbeat*> all, std::vector<int> mine,
             std::function<void(const std::string&)> end);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    // The schedule that trains now, from which steps have their names.
    void steps_of(const Schedule& schedule);

private:
    bool stuck(std::chrono::nanoseconds awake_since) const;
    std::size_t last_seen() const;
    std::string describe();
    std::string place_of(const comm::Heartbeat::Seen& seen);
    void end();
    void watch();

    std::chrono::nanoseconds timeout_;
    std::vector<comm::Heartbeat*> all_;
    std::vector<int> mine_;
    std::function<void(const std::string&)> end_;
    std::mutex mutex_;  // guards what follows
    std::vector<std::string> names_;
    bool done_ = false;
    std::condition_variable wake_;
    std::thread thread_;  // the last, because it uses the others
};

}  // namespace gnnplan::tools
