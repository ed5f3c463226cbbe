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

    // The heartbeat of this rank, until there is shared memory in which others see it.
    Heartbeat& heartbeat() { return heartbeat_; }

    // Called by the thread that starts MPI: it waits for these ranks; the one at this place of the list has answered.
    void waits_for(std::vector<int> ranks) {
        answered_ = std::vector<std::atomic<bool>>(ranks.size());
        ranks_ = std::move(ranks);
        heartbeat_.enter(Heartbeat::greeting);
    }
    void has_answered(std::size_t place) {
        answered_[place].store(true, std::memory_order_relaxed);
        heartbeat_.show_alive();
    }

    // For any thread, once the heartbeat is at `greeting`: which ranks have answered and which have not, in words.
    std::string answers() const;

private:
    Heartbeat heartbeat_;
    std::vector<int> ranks_;
    std::vector<std::atomic<bool>> answered_;
};

}  // namespace gnnplan::comm
