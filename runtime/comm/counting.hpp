// Counts what a rank says on the data channel, from the arguments of the calls, whatever the library does underneath.
#pragma once

#include "runtime/comm/forwarding.hpp"
#include "runtime/comm/traffic.hpp"

namespace gnnplan::comm {

// The bytes that rank r of g sends and receives in a ring all-reduce of `elements` elements of `element_bytes` bytes
// each, cut into g balanced blocks b_0 .. b_{g-1} (sizes in bytes, block indices mod g):
//   sent     = (total - b_{r+1}) [reduce-scatter] + (total - b_{r+2}) [all-gather]
//   received = (total - b_r)     [reduce-scatter] + (total - b_{r+1}) [all-gather]
// Nothing for g = 1. Over all ranks: 2 (g - 1) total.
Traffic ring_all_reduce_traffic(std::int64_t elements, std::int64_t element_bytes, int rank, int ranks);

// Passes every call on to another communicator and adds its bytes to `traffic`, which the caller owns, may reset
// between calls, and keeps alive. Communicators from split() count into the same Traffic. The control channel is not
// counted.
//   exchange   - every message to and from another rank, when it is started; blocks when they have been exchanged
//   lend       - every message, though it stays where it is
//   broadcast  - flat: (g - 1) messages sent by the root, one received by every other rank
//   all_reduce - ring_all_reduce_traffic
class CountingCommunicator : public ForwardingCommunicator {
public:
    CountingCommunicator(Communicator& inner, Traffic& traffic) : ForwardingCommunicator(inner), traffic_(traffic) {}
    CountingCommunicator(std::unique_ptr<Communicator> inner, Traffic& traffic)
        : ForwardingCommunicator(std::move(inner)), traffic_(traffic) {}

    bool needs_progress() const override { return inner().needs_progress(); }
    std::unique_ptr<PendingExchange> start_exchange(std::span<const Send> sends,
                                                    std::span<const Receive> receives) override;
    void exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) override;
    std::unique_ptr<Loan> lend(std::span<const Send> sends, std::span<const Receive> receives) override;
    void broadcast(int root, std::span<std::byte> bytes) override;
    void all_reduce(std::span<float> values) override;
    void all_reduce(std::span<double> values) override;
    void all_reduce(std::span<kernels::SquareSum> values) override;
    std::unique_ptr<Communicator> split(int colour, int key) override;

private:
    template <class T>
    void sum(std::span<T> values);
    void count(std::span<const Send> sends, std::span<const Receive> receives);
    void count_sent(int peer, std::size_t bytes);
    void count_received(int peer, std::size_t bytes);

    Traffic& traffic_;
};

}  // namespace gnnplan::comm
