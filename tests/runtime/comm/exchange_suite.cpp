#include "contract.hpp"

#include "runtime/comm/counting.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::comm {
namespace {

using Bytes = std::vector<std::byte>;
// Bytes from one rank to another; none means that no message is named at all.
using Lengths = std::function<int(int from, int to)>;

constexpr int no_message = -1;

Bytes message(int from, int to, int length) {
    Bytes bytes(static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(31 * static_cast<std::size_t>(from) + 7 * static_cast<std::size_t>(to) + i);
    return bytes;
}

// Exchanges messages of these lengths, naming peers in descending order on one side, and compares all that arrives.
void check_exchange(Communicator& comm, const Lengths& lengths) {
    const int me = comm.rank();
    std::vector<Bytes> outgoing;
    std::vector<Bytes> incoming;
    std::vector<Send> sends;
    std::vector<Receive> receives;
    for (int peer = 0; peer < comm.size(); ++peer) {
        outgoing.push_back(message(me, peer, std::max(0, lengths(me, peer))));
        incoming.emplace_back(static_cast<std::size_t>(std::max(0, lengths(peer, me))));
        if (lengths(me, peer) != no_message) sends.push_back({peer, outgoing.back()});
        if (lengths(peer, me) != no_message) receives.insert(receives.begin(), {peer, incoming.back()});
    }
    comm.exchange(sends, receives);
    for (int peer = 0; peer < comm.size(); ++peer) {
        const auto from = static_cast<std::size_t>(peer);
        EXPECT_EQ(incoming[from], message(peer, me, std::max(0, lengths(peer, me)))) << "rank " << peer << " to " << me;
    }
}

TEST_P(Contract, ExchangeDeliversUnevenMessages) {
    on_ranks([](Communicator& comm) {
        check_exchange(comm, [](int from, int to) { return 100 * from + 13 * to + 1; });
        check_exchange(comm, [](int from, int to) { return from * to; });
        check_exchange(comm, [](int from, int to) { return 70'000 + from - to; });
    });
}

TEST_P(Contract, ExchangeAllowsEmptyAndMissingMessages) {
    on_ranks([](Communicator& comm) {
        check_exchange(comm, [](int, int) { return 0; });
        check_exchange(comm, [](int, int) { return no_message; });
        check_exchange(comm, [](int from, int to) { return from == to ? 5 : no_message; });
        check_exchange(comm, [](int from, int to) { return (from + to) % 2 == 0 ? no_message : 9; });
    });
}

TEST_P(Contract, ExchangeInOneDirectionAndInARow) {
    on_ranks([](Communicator& comm) {
        for (int round = 0; round < 50; ++round)
            check_exchange(comm, [&](int from, int to) { return from == round % 3 && to > from ? 40 : no_message; });
        const int ranks = comm.size();
        for (int round = 0; round < 50; ++round)
            check_exchange(comm, [&](int from, int to) { return to == (from + 1) % ranks ? round : no_message; });
    });
}

TEST_P(Contract, ExchangeRefusesWrongPeersOnEveryRank) {
    on_ranks([](Communicator& comm) {
        const std::vector<Send> outside{{comm.size(), {}}};
        EXPECT_THROW(comm.exchange(outside, {}), Error);
        const std::vector<Receive> twice{{0, {}}, {0, {}}};
        EXPECT_THROW(comm.exchange({}, twice), Error);
    });
}

TEST_P(Contract, CountingAddsUpExchanges) {
    on_ranks([](Communicator& comm) {
        const auto lengths = [](int from, int to) { return to == 2 ? 0 : 10 * from + to + 1; };
        Traffic expected;
        for (int peer = 0; peer < comm.size(); ++peer) {
            if (peer == comm.rank()) continue;
            expected.sent(lengths(comm.rank(), peer));
            expected.received(lengths(peer, comm.rank()));
        }
        Traffic traffic;
        CountingCommunicator counting(comm, traffic);
        check_exchange(counting, lengths);
        EXPECT_EQ(traffic, expected);
        check_exchange(counting, lengths);
        expected += expected;
        EXPECT_EQ(traffic, expected);
        traffic.reset();
        counting.barrier();
        control_max(counting, 1.0);
        EXPECT_EQ(traffic, Traffic{});
    });
}

}  // namespace
}  // namespace gnnplan::comm
