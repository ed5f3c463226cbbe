// Units shared out on machines that are made up.
#include "runtime/place/shares.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace gnnplan::place {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Lists = std::vector<std::string>;

Topology machine(const char* description) {
    hwloc_topology_t topology = nullptr;
    EXPECT_EQ(hwloc_topology_init(&topology), 0);
    Topology owned(topology);
    EXPECT_EQ(hwloc_topology_set_synthetic(topology, description), 0);
    EXPECT_EQ(hwloc_topology_load(topology), 0);
    return owned;
}

// Two sockets with a NUMA node each, units numbered core by core: 16 units, 0-7 on the first socket.
Topology two_sockets() { return machine("package:2 [numa] core:4 pu:2"); }

Lists every_share(const Topology& topology, const std::string& allowed, int ranks, int threads) {
    Lists all;
    for (int rank = 0; rank < ranks; ++rank) {
        const Lists mine = shares(topology.get(), allowed, {ranks, rank, threads});
        all.insert(all.end(), mine.begin(), mine.end());
    }
    return all;
}

TEST(Shares, OneThreadEachOnOneCore) {
    const Topology plain = machine("core:4 pu:1");
    EXPECT_THAT(every_share(plain, "0-3", 4, 1), ElementsAre("0", "1", "2", "3"));
    EXPECT_THAT(every_share(plain, "0-3", 1, 4), ElementsAre("0", "1", "2", "3"));
    EXPECT_THAT(every_share(plain, "0-3", 2, 2), ElementsAre("0", "1", "2", "3"));
}

TEST(Shares, ThreadsHaveRoomWhereThereIsRoom) {
    const Topology plain = machine("core:4 pu:1");
    EXPECT_THAT(every_share(plain, "0-3", 1, 1), ElementsAre("0-3"));
    EXPECT_THAT(every_share(plain, "0-3", 2, 1), ElementsAre("0-1", "2-3"));
    EXPECT_THAT(every_share(plain, "0-3", 1, 2), ElementsAre("0-1", "2-3"));
}

TEST(Shares, NothingWhereThereAreMoreThreadsThanUnits) {
    const Topology plain = machine("core:4 pu:1");
    EXPECT_THAT(every_share(plain, "0-3", 5, 1), IsEmpty());
    EXPECT_THAT(every_share(plain, "0-3", 1, 5), IsEmpty());
    EXPECT_THAT(every_share(plain, "0-3", 2, 3), IsEmpty());
    EXPECT_THAT(every_share(plain, "2", 1, 2), IsEmpty());
    EXPECT_THAT(every_share(plain, "", 1, 1), IsEmpty());
}

TEST(Shares, CoresBeforeTheirSecondThreads) {
    const Topology two = two_sockets();
    EXPECT_THAT(every_share(two, "0-15", 8, 1), ElementsAre("0", "2", "4", "6", "8", "10", "12", "14"));
    EXPECT_THAT(every_share(two, "0-15", 2, 4), ElementsAre("0", "2", "4", "6", "8", "10", "12", "14"));
    EXPECT_THAT(every_share(two, "0-15", 16, 1).size(), 16);
    // One of three cores may be used with both of its units.
    EXPECT_THAT(every_share(two, "0-2,4", 3, 1), ElementsAre("0", "2", "4"));
    EXPECT_THAT(every_share(two, "0-2,4", 4, 1), ElementsAre("0", "1", "2", "4"));
}

TEST(Shares, RanksStayInsideNumaNodes) {
    const Topology two = two_sockets();
    EXPECT_THAT(every_share(two, "0-15", 2, 1), ElementsAre("0,2,4,6", "8,10,12,14"));
    // A third of the cores would be one that has cores of both sockets.
    EXPECT_THAT(every_share(two, "0-15", 3, 1), ElementsAre("0,2", "4,6", "8,10,12,14"));
    EXPECT_THAT(shares(two.get(), "0-15", {2, 1, 3}), ElementsAre("8", "10", "12,14"));
}

TEST(Shares, AllThreadsHaveAUnitWhereWholeRanksDoNotFitNumaNodes) {
    // Three ranks of two threads on 3 + 3 cores: the second rank is on both sockets.
    const Topology topology = machine("package:2 [numa] core:3 pu:1");
    EXPECT_THAT(every_share(topology, "0-5", 3, 2), ElementsAre("0", "1", "2", "3", "4", "5"));
}

TEST(Shares, OnlyWhatIsAllowed) {
    const Topology two = two_sockets();
    EXPECT_THAT(every_share(two, "4-11", 2, 2), ElementsAre("4", "6", "8", "10"));
    EXPECT_THAT(every_share(two, "6-7", 1, 2), ElementsAre("6", "7"));
    EXPECT_THAT(every_share(two, "3", 1, 1), ElementsAre("3"));
    EXPECT_THAT(every_share(two, "14-40", 2, 1), ElementsAre("14", "15"));
}

// These hold whatever the machine, the mask and the team.
TEST(Shares, AreDisjointAndNeverEmpty) {
    for (const char* description : {"package:2 [numa] core:4 pu:2", "numa:4 l3:2 core:3 pu:1", "core:7 pu:1"}) {
        const Topology topology = machine(description);
        const int units = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PU);
        for (const std::string allowed : {"0-63", "1-6", "0,2-3,5"}) {
            for (int ranks = 1; ranks <= units; ++ranks) {
                for (int threads = 1; ranks * threads <= units; ++threads) {
                    const Lists all = every_share(topology, allowed, ranks, threads);
                    const UnitSet taken(hwloc_bitmap_alloc());
                    int sum = 0;
                    for (const std::string& list : all) {
                        const UnitSet set = parse_list(list);
                        EXPECT_FALSE(hwloc_bitmap_iszero(set.get()));
                        sum += hwloc_bitmap_weight(set.get());
                        hwloc_bitmap_or(taken.get(), taken.get(), set.get());
                    }
                    EXPECT_EQ(hwloc_bitmap_weight(taken.get()), sum) << "two threads have a unit in common";
                    EXPECT_TRUE(hwloc_bitmap_isincluded(taken.get(), parse_list(allowed).get()));
                    const UnitSet usable = parse_list(allowed);
                    hwloc_bitmap_and(usable.get(), usable.get(), hwloc_topology_get_topology_cpuset(topology.get()));
                    const bool fits = hwloc_bitmap_weight(usable.get()) >= ranks * threads;
                    EXPECT_EQ(all.size(), fits ? static_cast<std::size_t>(ranks * threads) : 0U);
                }
            }
        }
    }
}

}  // namespace
}  // namespace gnnplan::place
