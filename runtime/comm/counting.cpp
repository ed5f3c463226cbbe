#include "runtime/comm/counting.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/range.hpp>

#include <algorithm>

namespace gnnplan::comm {

Traffic ring_all_reduce_traffic(std::int64_t elements, std::int64_t element_bytes, int rank, int ranks) {
    Traffic traffic;
    if (ranks == 1) return traffic;
    const auto block_bytes = [&](int block) {
        return checked_multiply(balanced_block({0, elements}, block % ranks, ranks).size(), element_bytes);
    };
    const std::int64_t total = checked_multiply(elements, element_bytes);
    traffic.sent_bytes = (total - block_bytes(rank + 1)) + (total - block_bytes(rank + 2));
    traffic.received_bytes = (total - block_bytes(rank)) + (total - block_bytes(rank + 1));

    // The first min(g, elements) blocks are the non-empty ones; empty blocks are not sent.
    const std::int64_t full_blocks = std::min<std::int64_t>(ranks, elements);
    const auto is_full = [&](int block) { return block % ranks < full_blocks ? 1 : 0; };
    traffic.messages = (full_blocks - is_full(rank + 1)) + (full_blocks - is_full(rank + 2));
    return traffic;
}

std::unique_ptr<PendingExchange> CountingCommunicator::start_exchange(std::span<const Send> sends,
                                                                      std::span<const Receive> receives) {
    std::unique_ptr<PendingExchange> pending = inner().start_exchange(sends, receives);
    count(sends, receives);
    return pending;
}

std::unique_ptr<Loan> CountingCommunicator::lend(std::span<const Send> sends, std::span<const Receive> receives) {
    std::unique_ptr<Loan> loan = inner().lend(sends, receives);
    if (loan) count(sends, receives);
    return loan;
}

void CountingCommunicator::exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) {
    inner().exchange_blocks(sends, receives);
    for (const SendBlock& send : sends) count_sent(send.peer, send.rows.bytes());
    for (const ReceiveBlock& receive : receives) count_received(receive.peer, receive.rows.bytes());
}

void CountingCommunicator::count(std::span<const Send> sends, std::span<const Receive> receives) {
    for (const Send& send : sends) count_sent(send.peer, send.bytes.size());
    for (const Receive& receive : receives) count_received(receive.peer, receive.bytes.size());
}

void CountingCommunicator::count_sent(int peer, std::size_t bytes) {
    if (peer != rank()) traffic_.sent(checked_cast<std::int64_t>(bytes));
}

void CountingCommunicator::count_received(int peer, std::size_t bytes) {
    if (peer != rank()) traffic_.received(checked_cast<std::int64_t>(bytes));
}

void CountingCommunicator::broadcast(int root, std::span<std::byte> bytes) {
    inner().broadcast(root, bytes);
    const auto length = checked_cast<std::int64_t>(bytes.size());
    if (rank() != root) return traffic_.received(length);
    for (int peer = 1; peer < size(); ++peer) traffic_.sent(length);
}

template <class T>
void CountingCommunicator::sum(std::span<T> values) {
    inner().all_reduce(values);
    traffic_ += ring_all_reduce_traffic(checked_cast<std::int64_t>(values.size()), sizeof(T), rank(), size());
}

void CountingCommunicator::all_reduce(std::span<float> values) { sum(values); }
void CountingCommunicator::all_reduce(std::span<double> values) { sum(values); }
void CountingCommunicator::all_reduce(std::span<kernels::SquareSum> values) { sum(values); }

std::unique_ptr<Communicator> CountingCommunicator::split(int colour, int key) {
    return std::make_unique<CountingCommunicator>(inner().split(colour, key), traffic_);
}

}  // namespace gnnplan::comm
