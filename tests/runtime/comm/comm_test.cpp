// Runs the contract on one rank alone, on threads, and on threads whose data is in the memory of devices, and tests
// what only threads have: the release after a failure.
#include "contract.hpp"
#include "runtime/comm/peers.hpp"
#include "runtime/comm/self.hpp"
#include "runtime/comm/staged.hpp"
#include "runtime/comm/threads.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/emulated_device.hpp"
#include "through_device.hpp"

#include <gnnplan/base/error.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <string>

namespace gnnplan::comm {
namespace {

using ::testing::HasSubstr;

// Sanitizers make a device that is emulated take some ten times as long.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int numbers_on_devices[] = {2};
#else
constexpr int numbers_on_devices[] = {1, 2, 3, 6};
#endif

// Threads whose data is in memory that the host cannot touch.
std::function<void(const Body&)> on_devices(int ranks, const OpenCommunicator& between,
                                            const kernels::OpenDevice& open = {}) {
    return [ranks, between, open](const Body& body) {
        run_ranks(ranks, [&](Communicator& comm) {
            const auto device = open ? open() : gnnplan::testing::emulated_device({.order = 1U + comm.rank()});
            const auto of_device = between(comm, *device);
            body(*through_device(*of_device, *device));
        });
    };
}

std::vector<Ranks> all_ranks() {
    std::vector<Ranks> kinds{{"Self", [](const Body& body) {
                                  SelfCommunicator self;
                                  body(self);
                              }}};
    for (const int ranks : {1, 2, 3, 4, 6, 7, 8})
        kinds.push_back({"Threads" + std::to_string(ranks), [ranks](const Body& body) { run_ranks(ranks, body); }});
    for (const int ranks : numbers_on_devices) {
        kinds.push_back({"Staged" + std::to_string(ranks), on_devices(ranks, gnnplan::testing::through_little_room)});
        kinds.push_back({"Peers" + std::to_string(ranks), on_devices(ranks, between_peers)});
        kinds.push_back({"Emulated" + std::to_string(ranks), on_devices(ranks, gnnplan::testing::on_emulated_device)});
        if (const auto wanted = gnnplan::testing::wanted_device(); wanted && wanted->name == "cuda")
            kinds.push_back({"Wanted" + std::to_string(ranks), on_devices(ranks, wanted->communicator, wanted->open)});
    }
    kinds.push_back({"StagedAtOnce2", on_devices(2, through_hosts)});
    return kinds;
}

INSTANTIATE_TEST_SUITE_P(All, Contract, ::testing::ValuesIn(all_ranks()), name_of);

// Messages of any length and sums pass through the same room of the host.
TEST(Staged, HoldsAsMuchOfTheHostWhateverTravels) {
    for (const int ranks : {1, 2, 3, 6}) {
        run_ranks(ranks, [&](Communicator& hosts) {
            const auto device = gnnplan::testing::emulated_device({.order = 1U});
            StagedCommunicator comm(hosts, *device, 1000);
            EXPECT_EQ(comm.host_bytes(), HostRoom::bytes_for(ranks, 1000));
            const std::size_t length = 100'000;
            const auto from = device->allocate(length), to = device->allocate(length);
            const int right = (hosts.rank() + 1) % ranks, left = (hosts.rank() + ranks - 1) % ranks;
            const Send send{right, {from->data(), length}};
            const Receive receive{left, {to->data(), length}};
            comm.exchange({&send, 1}, {&receive, 1});
            comm.all_reduce(std::span(reinterpret_cast<float*>(to->data()), length / sizeof(float)));
            device->finish();
            EXPECT_EQ(comm.host_bytes(), HostRoom::bytes_for(ranks, 1000));
        });
    }
    EXPECT_EQ(HostRoom::bytes_for(1), 0);
    EXPECT_EQ(HostRoom::bytes_for(2), 32 << 20);
    EXPECT_EQ(HostRoom::bytes_for(4, 1000), 8 * 3 * 320) << "a third of 1000 bytes, in units of 64";
    EXPECT_EQ(HostRoom::bytes_for(100, 1000), 8 * 99 * 64) << "a unit for each rank at least";
}

std::string message_of_failure(int ranks, const Body& body) {
    try {
        run_ranks(ranks, body);
    } catch (const std::exception& error) {
        return error.what();
    }
    return "no failure";
}

TEST(RunRanks, EveryRankRunsOnceAndKnowsItsPlace) {
    for (const int ranks : {1, 2, 7}) {
        std::vector<int> sizes(static_cast<std::size_t>(ranks));
        run_ranks(ranks, [&](Communicator& comm) { sizes[static_cast<std::size_t>(comm.rank())] += comm.size(); });
        EXPECT_EQ(sizes, std::vector<int>(static_cast<std::size_t>(ranks), ranks));
    }
    EXPECT_THROW(run_ranks(0, [](Communicator&) {}), Error);
}

TEST(RunRanks, RethrowsTheCauseWhateverTheOthersWaitFor) {
    const std::vector<Body> waits{
        [](Communicator& comm) { comm.barrier(); },
        [](Communicator& comm) { comm.control_all_gather("x"); },
        [](Communicator& comm) {
            std::vector<float> values(100);
            comm.all_reduce(std::span(values));
        },
        [](Communicator& comm) {
            std::vector<std::byte> bytes(1000);
            comm.broadcast(comm.size() - 1, bytes);  // nobody is left to receive, or to send
            comm.barrier();
        },
        [](Communicator& comm) {
            std::vector<std::byte> bytes(1000);
            const Send send{comm.size() - 1, bytes};
            comm.exchange({&send, 1}, {});
            comm.barrier();
        },
        [](Communicator& comm) {
            std::vector<std::byte> bytes(1000);
            const Receive receive{comm.size() - 1, bytes};
            const auto first = comm.start_exchange({}, {&receive, 1});
            const auto second = comm.start_exchange({}, {});
            first->wait();
        },
        [](Communicator& comm) { comm.split(0, 0)->barrier(); },
    };
    for (const int ranks : {2, 3, 8})
        for (const Body& wait : waits)
            EXPECT_EQ(message_of_failure(ranks,
                                         [&](Communicator& comm) {
                                             if (comm.rank() == comm.size() - 1) throw std::runtime_error("the cause");
                                             wait(comm);
                                         }),
                      "the cause");
}

TEST(RunRanks, RanksInOtherGroupsAreReleasedToo) {
    std::atomic<int> released = 0;
    const std::string message = message_of_failure(6, [&](Communicator& comm) {
        const auto pair = comm.split(comm.rank() / 2, 0);
        if (comm.rank() == 5) throw std::runtime_error("the cause");
        try {
            for (;;) pair->barrier();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::interrupted);
            ++released;
            throw;
        }
    });
    EXPECT_EQ(message, "the cause");
    EXPECT_EQ(released, 5);
}

TEST(RunRanks, OfSeveralCausesTheLowestRankCounts) {
    EXPECT_EQ(message_of_failure(6,
                                 [](Communicator& comm) {
                                     if (comm.rank() >= 2)
                                         throw std::runtime_error("rank " + std::to_string(comm.rank()));
                                     comm.barrier();
                                 }),
              "rank 2");
}

TEST(RunRanks, ASenderMayGoWhileAPeerFailsMidway) {
    // Buffers die with the failing rank while others still hold their addresses: sanitizers watch this one.
    for (int round = 0; round < 50; ++round)
        EXPECT_EQ(message_of_failure(4,
                                     [&](Communicator& comm) {
                                         for (int step = 0;; ++step) {
                                             if (comm.rank() == 3 && step == round) throw std::runtime_error("midway");
                                             std::vector<float> values(5000);
                                             comm.all_reduce(std::span(values));
                                         }
                                     }),
                  "midway");
}

TEST(RunRanks, LengthsThatDisagreeAreAnError) {
    const std::string message = message_of_failure(2, [](Communicator& comm) {
        std::vector<std::byte> bytes(comm.rank() == 0 ? 10 : 11);
        comm.broadcast(0, bytes);
    });
    EXPECT_EQ(message, "internal error: rank 0 sends rank 1 10 bytes, but 11 are expected");
}

TEST(RunRanks, LengthsOfStartedExchangesThatDisagreeAreAnErrorOfWait) {
    const std::string message = message_of_failure(2, [](Communicator& comm) {
        std::vector<std::byte> bytes(comm.rank() == 0 ? 10 : 11);
        const Send send{1, bytes};
        const Receive receive{0, bytes};
        const std::size_t sends = comm.rank() == 0 ? 1 : 0;
        std::unique_ptr<PendingExchange> pending;
        ASSERT_NO_THROW(pending = comm.start_exchange({&send, sends}, {&receive, 1 - sends}));
        pending->wait();
    });
    EXPECT_EQ(message, "internal error: rank 0 sends rank 1 10 bytes, but 11 are expected");
}

// Nothing has been shown to the others before wait(), so giving up on every rank leaves no trace.
TEST(RunRanks, AnExchangeGivenUpOnEveryRankLeavesNoTrace) {
    run_ranks(3, [](Communicator& comm) {
        const std::byte mark = static_cast<std::byte>(comm.rank() + 1);
        const int next = (comm.rank() + 1) % 3;
        const int previous = (comm.rank() + 2) % 3;
        std::vector<std::byte> abandoned(9);
        {
            const std::vector<std::byte> out(9, std::byte{99});
            const Send send{next, out};
            const Receive receive{previous, abandoned};
            comm.start_exchange({&send, 1}, {&receive, 1})->progress();
        }
        const std::vector<std::byte> out(9, mark);
        std::vector<std::byte> in(9);
        const Send send{next, out};
        const Receive receive{previous, in};
        comm.exchange({&send, 1}, {&receive, 1});
        EXPECT_EQ(in, std::vector<std::byte>(9, static_cast<std::byte>(previous + 1)));
        EXPECT_EQ(abandoned, std::vector<std::byte>(9));
    });
}

TEST(RunRanks, NoOtherExchangeWhileOneIsUnderWay) {
    run_ranks(2, [](Communicator& comm) {
        const auto pending = comm.start_exchange({}, {});
        EXPECT_THROW(comm.exchange({}, {}), Error);
        pending->wait();
        EXPECT_NO_THROW(comm.exchange({}, {}));
    });
}

TEST(Waiting, IsSeenAndNests) {
    Heartbeat heartbeat;
    EXPECT_FALSE(heartbeat.waits());
    {
        const Waiting outer(heartbeat);
        { const Waiting inner(heartbeat); }
        EXPECT_TRUE(heartbeat.waits());
    }
    EXPECT_FALSE(heartbeat.waits());
    EXPECT_EQ(heartbeat.waited(), 2U);
}

}  // namespace
}  // namespace gnnplan::comm
