// The messages of one exchange between ranks of a node, as they go through rings, on all threads of the rank.
#pragma once

#include "runtime/comm/messages.hpp"
#include "runtime/comm/shared_ring.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <functional>

namespace gnnplan::comm {

// A rank's message to itself, in turns like the others.
class OwnCopy {
public:
    OwnCopy(const OwnMessage& own, Stores stores) : from_(own.from), to_(own.to), stores_(stores) {}
    bool done() const { return from_.left() == 0; }
    bool step() {
        const std::size_t bytes = std::min(from_.left(), SharedRing::largest_turn);
        copy_rows(from_, to_, bytes, stores_);
        return bytes > 0;
    }

private:
    RowCursor<const std::byte> from_;
    RowCursor<std::byte> to_;
    Stores stores_;
};

class RingTransfer {
public:
    // `bytes` arrive in all, those of the rank's message to itself included.
    RingTransfer(const OwnMessage& own, std::size_t bytes);

    // The rings of the pair, one for each lane.
    void send(std::span<SharedRing> rings, const ConstRows& rows);
    void receive(std::span<SharedRing> rings, const MutableRows& rows);

    // Returns when all messages have gone and come. The calling thread calls `wait` while nothing of its own moves;
    // throws what that throws.
    void run(const std::function<void()>& wait);

    // The length of the i-th message received, afterwards.
    std::size_t sent(std::size_t i) const { return firsts_[i]->sent(); }

private:
    // A thread moves these messages: all are dealt to the threads in turns.
    struct Share {
        std::size_t thread = 0;
        std::size_t threads = 1;
    };

    template <class Messages>
    static bool step(Messages& messages, const Share& share, std::size_t& dealt, bool& done);
    bool step(const Share& share, bool& done);
    void run_share(const Share& share, const std::function<void()>& wait);

    Stores stores_;
    std::size_t bytes_;
    std::array<OwnCopy, 1> own_;
    std::deque<RingSend> out_;
    std::deque<RingReceive> in_;  // their places do not change
    std::vector<const RingReceive*> firsts_;
    std::atomic<std::size_t> ended_{0};  // threads
    std::atomic<bool> failed_{false};
};

}  // namespace gnnplan::comm
