// Exchanges under way: several at once, their order, and giving one up.
#include "contract.hpp"

#include "runtime/comm/counting.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::comm {
namespace {

using Bytes = std::vector<std::byte>;

// A message that shows who sent it to whom in which exchange.
Bytes message(int number, int from, int to, std::size_t length) {
    Bytes bytes(length);
    for (std::size_t i = 0; i < length; ++i)
        bytes[i] = static_cast<std::byte>(101 * static_cast<std::size_t>(number) + 31 * static_cast<std::size_t>(from) +
                                          7 * static_cast<std::size_t>(to) + i);
    return bytes;
}

// An all-to-all with messages of `length` bytes and the buffers that belong to it.
class AllToAll {
public:
    AllToAll(Communicator& comm, int number, std::size_t length) : rank_(comm.rank()), number_(number) {
        std::vector<Send> sends;
        std::vector<Receive> receives;
        for (int peer = 0; peer < comm.size(); ++peer) {
            outgoing_.push_back(message(number, rank_, peer, length));
            incoming_.emplace_back(length);
            sends.push_back({peer, outgoing_.back()});
            receives.push_back({peer, incoming_.back()});
        }
        pending_ = comm.start_exchange(sends, receives);
    }

    PendingExchange& pending() { return *pending_; }
    void give_up() { pending_.reset(); }
    void expect_delivered() const {
        for (int peer = 0; peer < static_cast<int>(incoming_.size()); ++peer) {
            const Bytes& bytes = incoming_[static_cast<std::size_t>(peer)];
            EXPECT_TRUE(bytes == message(number_, peer, rank_, bytes.size()))
                << "exchange " << number_ << ", rank " << peer << " to " << rank_;
        }
    }

private:
    int rank_;
    int number_;
    std::vector<Bytes> outgoing_;
    std::vector<Bytes> incoming_;
    std::unique_ptr<PendingExchange> pending_;  // goes before its buffers
};

// Large enough that libraries wait for the receiver before they send.
constexpr std::size_t large = 200'000;

TEST_P(Contract, StartedExchangesDeliverInOrder) {
    on_ranks([](Communicator& comm) {
        for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{65}, large}) {
            AllToAll first(comm, 1, length);
            AllToAll second(comm, 2, length);  // equal lengths: only their order tells the two apart
            first.pending().wait();
            first.expect_delivered();
            AllToAll third(comm, 3, length / 2);
            second.pending().wait();
            third.pending().wait();
            second.expect_delivered();
            third.expect_delivered();
        }
    });
}

TEST_P(Contract, ProgressMayBeMadeOnAnyExchangeUnderWay) {
    on_ranks([](Communicator& comm) {
        AllToAll first(comm, 1, large);
        first.pending().progress();
        AllToAll second(comm, 2, large);
        for (int round = 0; round < 5 + comm.rank(); ++round) {
            second.pending().progress();
            first.pending().progress();
        }
        std::vector<float> values{1};
        comm.all_reduce(std::span(values));  // other collectives do not mind
        EXPECT_EQ(values[0], static_cast<float>(comm.size()));
        first.pending().wait();
        first.expect_delivered();
        second.pending().progress();
        second.pending().wait();
        second.expect_delivered();
    });
}

TEST_P(Contract, ExchangesAreWaitedForOnceAndInTheirOrder) {
    on_ranks([](Communicator& comm) {
        AllToAll first(comm, 1, 100);
        AllToAll second(comm, 2, 100);
        EXPECT_THROW(second.pending().wait(), Error);
        first.pending().wait();
        EXPECT_THROW(first.pending().wait(), Error);
        second.pending().wait();
        first.expect_delivered();
        second.expect_delivered();
    });
}

TEST_P(Contract, GroupsKeepOrdersOfTheirOwn) {
    on_ranks([](Communicator& comm) {
        const std::unique_ptr<Communicator> half = comm.split(comm.rank() % 2, 0);
        AllToAll outer(comm, 1, 100);
        AllToAll inner(*half, 2, 100);
        inner.pending().wait();
        outer.pending().wait();
        inner.expect_delivered();
        outer.expect_delivered();
    });
}

TEST_P(Contract, RanksWithoutMessagesMayStayAway) {
    on_ranks([](Communicator& comm) {
        if (comm.rank() > 1 || comm.size() == 1) return;
        const int peer = 1 - comm.rank();
        const Bytes out = message(0, comm.rank(), peer, 40);
        Bytes in(out.size());
        const Send send{peer, out};
        const Receive receive{peer, in};
        comm.exchange({&send, 1}, {&receive, 1});
        EXPECT_EQ(in, message(0, peer, comm.rank(), 40));
    });
}

TEST_P(Contract, CountingCountsAStartedExchangeOnce) {
    on_ranks([](Communicator& comm) {
        Traffic traffic;
        CountingCommunicator counting(comm, traffic);
        AllToAll first(counting, 1, 10);
        AllToAll second(counting, 2, 7);
        first.pending().progress();
        first.pending().wait();
        second.pending().wait();
        const int others = comm.size() - 1;
        EXPECT_EQ(traffic, (Traffic{17L * others, 17L * others, 2L * others}));
    });
}

}  // namespace
}  // namespace gnnplan::comm
