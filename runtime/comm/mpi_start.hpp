// How far the start of MPI has come, for a thread that watches it. No MPI header is needed to include this.
#pragma once

#include "runtime/comm/heartbeat.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gnnplan::comm {

class MpiStart {
public:
    MpiStart() { heartbeat_.belongs_to_caller(); }

    // Of this rank, until there is memory that others see.
    Heartbeat& heartbeat() { return heartbeat_; }

    // The thread that starts MPI: these ranks are waited for, and one of them, by its place in the list, has answered.
    void waits_for(std::vector<int> ranks) {
        answered_ = std::vector<std::atomic<bool>>(ranks.size());
        ranks_ = std::move(ranks);
        heartbeat_.enter(Heartbeat::greeting);
    }
    void has_answered(std::size_t place) {
        answered_[place].store(true, std::memory_order_relaxed);
        heartbeat_.show_alive();
    }

    // Any thread, when the heartbeat has been seen greeting: who has answered and who has not, in words.
    std::string answers() const;

private:
    Heartbeat heartbeat_;
    std::vector<int> ranks_;
    std::vector<std::atomic<bool>> answered_;
};

}  // namespace gnnplan::comm
