#include "runtime/comm/ring_transfer.hpp"

#include "kernels/parallel.hpp"

#include <sched.h>

#include <exception>

namespace gnnplan::comm {
namespace {

// How many lanes a message of so many bytes is worth.
std::size_t lanes_for(std::size_t bytes, std::size_t most) {
    constexpr std::size_t divided_from = 1 << 20;
    return bytes < divided_from ? 1 : std::min(most, static_cast<std::size_t>(kernels::max_threads()));
}

}  // namespace

RingTransfer::RingTransfer(const OwnMessage& own, std::size_t bytes)
    : stores_(stores_for(bytes)), bytes_(bytes), own_{OwnCopy(own, stores_)} {}

void RingTransfer::send(std::span<SharedRing> rings, const ConstRows& rows) {
    const std::size_t lanes = lanes_for(rows.bytes(), rings.size());
    for (std::size_t lane = 0; lane < lanes; ++lane) out_.emplace_back(rings[lane], rows, Lane{lane, lanes});
    bytes_ += rows.bytes();
}

void RingTransfer::receive(std::span<SharedRing> rings, const MutableRows& rows) {
    firsts_.push_back(&in_.emplace_back(rings.front(), rows, stores_));
    for (std::size_t lane = 1; lane < rings.size(); ++lane)
        in_.emplace_back(rings[lane], rows, stores_, lane, firsts_.back());
}

// One turn of each message of the share. Returns whether any of them moved.
template <class Messages>
bool RingTransfer::step(Messages& messages, const Share& share, std::size_t& dealt, bool& done) {
    bool moved = false;
    for (auto& message : messages) {
        if (dealt++ % share.threads != share.thread) continue;
        moved |= message.step();
        done &= message.done();
    }
    return moved;
}

bool RingTransfer::step(const Share& share, bool& done) {
    std::size_t dealt = 0;
    bool moved = step(out_, share, dealt, done);
    moved |= step(own_, share, dealt, done);
    moved |= step(in_, share, dealt, done);
    return moved;
}

// The calling thread waits for the others, too, so that whatever needs its `wait` goes on.
void RingTransfer::run_share(const Share& share, const std::function<void()>& wait) {
    for (bool done = false; !done && !failed_;) {
        done = true;
        if (!step(share, done) && !done) share.thread == 0 ? wait() : static_cast<void>(sched_yield());
    }
    ++ended_;
    while (share.thread == 0 && ended_ < share.threads) wait();
}

void RingTransfer::run(const std::function<void()>& wait) {
    std::exception_ptr failure;
    kernels::on_all_threads(static_cast<std::int64_t>(bytes_ / sizeof(float)), [&](int thread, int threads) {
        try {
            run_share({static_cast<std::size_t>(thread), static_cast<std::size_t>(threads)}, wait);
        } catch (...) {  // of `wait`, which one thread calls
            failure = std::current_exception();
            failed_ = true;
        }
    });
    if (failure) std::rethrow_exception(failure);
}

}  // namespace gnnplan::comm
