#include "runtime/calibrate/collective.hpp"

#include "runtime/calibrate/measurements.hpp"
#include "runtime/calibrate/slots.hpp"
#include "runtime/comm/counting.hpp"
#include "runtime/comm/threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace gnnplan::calibrate {
namespace {

using ::testing::ElementsAre;

TEST(Collectives, AreRightAgainAndAgain) {
    for (const int ranks : {1, 2, 3}) {
        comm::run_ranks(ranks, [](comm::Communicator& comm) {
            const auto device = kernels::host_device(kernels::reference_table());
            for (const char* kind : {"exchange", "broadcast", "all_reduce", "reduce_scatter", "redistribute"}) {
                for (const std::int64_t bytes : {0, 64, 4096 * 3 + 12}) {
                    for (const std::int64_t cold_bytes : {0, 1 << 16}) {
                        const auto collective = make_collective(kind, comm, *device, bytes, cold_bytes);
                        collective->check();
                        for (int i = 0; i < 3; ++i) collective->run();
                        collective->check();
                    }
                }
            }
        });
    }
}

TEST(Collectives, ColdBuffersAreOthersEachTime) {
    const auto device = kernels::host_device(kernels::reference_table());
    Slots<float> slots(*device, 100, 1 << 20);
    std::set<const float*> seen;
    const std::size_t all = (1 << 20) / 4096 + 1;
    for (std::size_t i = 0; i < all; ++i) {
        EXPECT_EQ(slots.current().size(), 100U);
        seen.insert(slots.current().data());
        slots.advance();
    }
    EXPECT_EQ(seen.size(), all);
    Slots<float> hot(*device, 100, 0);
    const float* first = hot.current().data();
    hot.advance();
    EXPECT_EQ(hot.current().data(), first);
}

TEST(Nodes, IsOneForThreads) {
    comm::run_ranks(3, [](comm::Communicator& comm) {
        const Nodes nodes = find_nodes(comm, 0);
        EXPECT_EQ(nodes.count, 1);
        EXPECT_EQ(nodes.ranks_per_node(), 3);
        EXPECT_EQ(nodes.own->size(), 3);
    });
}

TEST(Nodes, AreThoseThatTheCommunicatorSays) {
    class OnTwoNodes final : public comm::CountingCommunicator {
    public:
        using CountingCommunicator::CountingCommunicator;
        std::vector<int> nodes() const override { return {0, 1, 0}; }
    };
    comm::run_ranks(3, [](comm::Communicator& ranks) {
        comm::Traffic traffic;
        OnTwoNodes comm(ranks, traffic);
        const Nodes nodes = find_nodes(comm, 0);
        EXPECT_THAT(nodes.of_rank, ElementsAre(0, 1, 0));
        EXPECT_EQ(nodes.count, 2);
        EXPECT_EQ(nodes.ranks_per_node(), 2);
        EXPECT_EQ(nodes.own->size(), comm.rank() == 1 ? 1 : 2);
    });
}

TEST(Nodes, MayBeSaidToBeOthers) {
    comm::run_ranks(5, [](comm::Communicator& comm) {
        const Nodes nodes = find_nodes(comm, 2);
        EXPECT_THAT(nodes.of_rank, ElementsAre(0, 0, 1, 1, 2));
        EXPECT_EQ(nodes.count, 3);
        EXPECT_EQ(nodes.ranks_per_node(), 2);
        EXPECT_EQ(nodes.own->size(), comm.rank() < 4 ? 2 : 1);
        EXPECT_EQ(nodes.own->rank(), comm.rank() % 2);
    });
}

}  // namespace
}  // namespace gnnplan::calibrate
