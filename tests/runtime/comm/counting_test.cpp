// The convention itself: what the decorator counts from the calls' arguments is what the mailboxes carry.
#include "runtime/comm/counting.hpp"

#include "runtime/comm/reduce_scatter.hpp"
#include "runtime/comm/thread_communicator.hpp"
#include "runtime/comm/threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace gnnplan::comm {
namespace {

using Work = std::function<void(Communicator&)>;

// Runs `work` on 1 .. 8 ranks, on all of them and then inside the groups of even and odd ranks.
void expect_counted_is_carried(const Work& work) {
    for (const int ranks : {1, 2, 3, 4, 6, 7, 8})
        run_ranks(ranks, [&](Communicator& comm) {
            Traffic counted;
            CountingCommunicator counting(comm, counted);
            auto& threads = dynamic_cast<ThreadCommunicator&>(comm);
            work(counting);
            EXPECT_EQ(counted, threads.carried()) << "rank " << comm.rank() << " of " << ranks;
            work(*counting.split(comm.rank() % 2, 0));
            EXPECT_EQ(counted, threads.carried()) << "rank " << comm.rank() << " of " << ranks << ", in its half";
        });
}

TEST(Counting, RingAllReduceIsWhatIsCarried) {
    for (const int length : {0, 1, 2, 3, 5, 7, 8, 9, 61, 1000}) {
        expect_counted_is_carried([&](Communicator& comm) {
            std::vector<float> values(static_cast<std::size_t>(length));
            comm.all_reduce(std::span(values));
        });
        expect_counted_is_carried([&](Communicator& comm) {
            std::vector<double> values(static_cast<std::size_t>(length));
            comm.all_reduce(std::span(values));
        });
    }
}

TEST(Counting, FlatBroadcastIsWhatIsCarried) {
    for (const std::size_t length : {0UL, 1UL, 77UL})
        expect_counted_is_carried([&](Communicator& comm) {
            std::vector<std::byte> bytes(length);
            for (int root = 0; root < comm.size(); root += 2) comm.broadcast(root, bytes);
        });
}

TEST(Counting, ExchangeIsWhatIsCarried) {
    expect_counted_is_carried([](Communicator& comm) {
        const auto length = [](int from, int to) { return static_cast<std::size_t>(from * to % 5 * 11); };
        std::vector<std::byte> out(100);
        std::vector<std::vector<std::byte>> in;
        std::vector<Send> sends;
        std::vector<Receive> receives;
        for (int peer = 0; peer < comm.size(); ++peer) {
            in.emplace_back(length(peer, comm.rank()));
            sends.push_back({peer, std::span(out).first(length(comm.rank(), peer))});
            receives.push_back({peer, in.back()});
        }
        comm.exchange(sends, receives);
    });
}

// With the formula that is tested against the count in reduce_scatter_suite.cpp: it is what is carried.
TEST(Counting, ReduceScatterIsWhatIsCarried) {
    for (const int step : {0, 1, 3, 5})
        expect_counted_is_carried([&](Communicator& comm) {
            std::vector<int> group(static_cast<std::size_t>(comm.size()));
            std::iota(group.rbegin(), group.rend(), 0);
            std::vector<std::int64_t> offsets{0};
            for (const int rank : group) offsets.push_back(offsets.back() + step * (rank % 3));
            std::vector<float> values(static_cast<std::size_t>(offsets.back()));
            std::vector<float> mine(static_cast<std::size_t>(step * (comm.rank() % 3)));
            std::vector<float> scratch(static_cast<std::size_t>(2 * step));
            reduce_scatter(comm, kernels::reference_table(), group, values, offsets, mine, scratch);
        });
}

TEST(Counting, RingFormulaByHand) {
    // 7 elements over 3 ranks: blocks of 3, 2, 2 elements of 4 bytes, so 12, 8 and 8 bytes of 28.
    EXPECT_EQ(ring_all_reduce_traffic(7, 4, 0, 3), (Traffic{(28 - 8) + (28 - 8), (28 - 12) + (28 - 8), 4}));
    EXPECT_EQ(ring_all_reduce_traffic(7, 4, 1, 3), (Traffic{(28 - 8) + (28 - 12), (28 - 8) + (28 - 8), 4}));
    EXPECT_EQ(ring_all_reduce_traffic(7, 4, 2, 3), (Traffic{(28 - 12) + (28 - 8), (28 - 8) + (28 - 12), 4}));
    // 1 element over 3 ranks: only block 0 is not empty; rank r skips blocks r+1 and r+2 when sending.
    EXPECT_EQ(ring_all_reduce_traffic(1, 8, 0, 3), (Traffic{16, 8, 2}));
    EXPECT_EQ(ring_all_reduce_traffic(1, 8, 1, 3), (Traffic{8, 16, 1}));
    EXPECT_EQ(ring_all_reduce_traffic(1, 8, 2, 3), (Traffic{8, 8, 1}));
    EXPECT_EQ(ring_all_reduce_traffic(1000, 4, 0, 1), Traffic{});
}

TEST(Counting, RingTotalsAreTwiceTheLengthForEachFurtherRank) {
    for (std::int64_t ranks = 1; ranks <= 9; ++ranks)
        for (std::int64_t elements = 0; elements < 40; ++elements) {
            Traffic total;
            for (int rank = 0; rank < ranks; ++rank)
                total += ring_all_reduce_traffic(elements, 4, rank, static_cast<int>(ranks));
            EXPECT_EQ(total.sent_bytes, 2 * (ranks - 1) * elements * 4);
            EXPECT_EQ(total.received_bytes, total.sent_bytes);
            EXPECT_EQ(total.messages, 2 * (ranks - 1) * std::min(ranks, elements));
        }
}

}  // namespace
}  // namespace gnnplan::comm
