// Loans between threads: no byte is copied, senders wait for their readers, and failures release all.
#include "runtime/comm/thread_communicator.hpp"
#include "runtime/comm/threads.hpp"

#include <gnnplan/base/error.hpp>

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace gnnplan::comm {
namespace {

using ::testing::HasSubstr;

std::string failure_of(int ranks, const std::function<void(Communicator&)>& body) {
    try {
        run_ranks(ranks, body);
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

// Each rank lends a message to the next one.
std::unique_ptr<Loan> lend_to_next(Communicator& comm, std::span<const float> sent, std::size_t expected_floats) {
    const Send send{(comm.rank() + 1) % comm.size(), std::as_bytes(sent)};
    const Receive receive{(comm.rank() + comm.size() - 1) % comm.size(),
                          {static_cast<std::byte*>(nullptr), expected_floats * sizeof(float)}};
    return comm.lend({&send, 1}, {&receive, 1});
}

TEST(ThreadLoan, ShowsTheSendersMemory) {
    std::array<std::vector<float>, 4> values;
    run_ranks(4, [&](Communicator& comm) {
        auto& own = values[static_cast<std::size_t>(comm.rank())];
        own.assign(100, static_cast<float>(comm.rank()));
        const auto loan = lend_to_next(comm, own, 100);
        const auto found = loan->received(0);
        EXPECT_EQ(static_cast<const void*>(found.data()), values[static_cast<std::size_t>(comm.rank() + 3) % 4].data());
        loan->end();
        EXPECT_EQ(dynamic_cast<ThreadCommunicator&>(comm).carried(), (Traffic{400, 400, 1}));
    });
}

TEST(ThreadLoan, ASenderWaitsForThoseThatRead) {
    std::atomic<bool> has_read = false;
    run_ranks(2, [&](Communicator& comm) {
        std::vector<float> own(10);
        const auto loan = lend_to_next(comm, own, 10);
        if (comm.rank() == 1) {
            loan->received(0);
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            has_read = true;
        }
        loan->end();
        EXPECT_TRUE(has_read);
    });
}

TEST(ThreadLoan, RefusesOtherLengths) {
    EXPECT_THAT(failure_of(2,
                           [](Communicator& comm) {
                               std::vector<float> own(10);
                               lend_to_next(comm, own, comm.rank() == 0 ? 10 : 11)->end();
                           }),
                HasSubstr("rank 0 sends rank 1 40 bytes, but 44 are expected"));
}

TEST(ThreadLoan, RefusesMessagesThatNobodyExpects) {
    EXPECT_THAT(
        failure_of(2,
                   [](Communicator& comm) {
                       const std::vector<float> own(10);
                       const std::vector<Send> sends(comm.rank() == 0 ? 2 : 0, {1, std::as_bytes(std::span(own))});
                       const std::vector<Receive> receives(comm.rank(), {0, {static_cast<std::byte*>(nullptr), 40}});
                       comm.lend(sends, receives)->end();
                   }),
        HasSubstr("more messages"));
}

// Lent memory dies with the failing rank while others may hold its address: sanitizers watch this one.
TEST(ThreadLoan, ALenderMayFailMidway) {
    for (int round = 0; round < 50; ++round)
        EXPECT_EQ(failure_of(4,
                             [&](Communicator& comm) {
                                 for (int step = 0;; ++step) {
                                     std::vector<float> own(5000, 1.0F);
                                     const auto loan = lend_to_next(comm, own, own.size());
                                     if (comm.rank() == 3 && step == round) throw std::runtime_error("midway");
                                     const auto found = loan->received(0);
                                     float sum = 0;
                                     for (const std::byte byte : found) sum += static_cast<float>(byte);
                                     EXPECT_GT(sum, 0);
                                     loan->end();
                                 }
                             }),
                  "midway");
}

}  // namespace
}  // namespace gnnplan::comm
