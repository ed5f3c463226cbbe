// Threads that are really bound, on whatever machine the tests run.
#include "runtime/place/place.hpp"

#include "runtime/comm/self.hpp"
#include "runtime/comm/threads.hpp"
#include "runtime/place/shares.hpp"
#include "tests/runtime/place/here.hpp"

#include <gmock/gmock.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include <cstdlib>
#include <thread>

namespace gnnplan::place {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

UnitSet units_here() { return parse_list(gnnplan::testing::list_here()); }

// On two ranks at least: one has all of the process's units, bound or not.
TEST(Place, RanksAreOnUnitsOfTheirOwn) {
    const int ranks = gnnplan::testing::units_here();
    if (ranks < 2) GTEST_SKIP() << "one unit only";
    const auto count = static_cast<std::size_t>(ranks);
    Placement placement;
    std::vector<std::string> found(count);
    comm::run_ranks(ranks, [&](comm::Communicator& comm) {
        const Placement mine = bind_threads(comm, 1);
        found[static_cast<std::size_t>(comm.rank())] = list_of(units_here());
        if (comm.rank() == 0) placement = mine;
    });
    if (placement.ranks.front().empty()) GTEST_SKIP() << placement.note;
    EXPECT_EQ(placement.ranks, found);
    EXPECT_FALSE(placement.warning);
    EXPECT_THAT(placement.note, HasSubstr(found[0] + " | " + found[1]));
    const UnitSet all(hwloc_bitmap_alloc());
    for (const std::string& list : found) hwloc_bitmap_or(all.get(), all.get(), parse_list(list).get());
    EXPECT_EQ(hwloc_bitmap_weight(all.get()), ranks);
    EXPECT_EQ(gnnplan::testing::units_here(), ranks) << "the thread that started the ranks is bound";
}

#ifdef _OPENMP
TEST(Place, WorkersAreOnUnitsOfTheirOwnAndStayThere) {
    const int threads = gnnplan::testing::units_here();
    if (threads < 2) GTEST_SKIP() << "one unit only";
    Placement placement;
    std::vector<std::string> found(static_cast<std::size_t>(threads));
    // A thread of its own, so that this test leaves the others theirs.
    std::jthread([&] {
        comm::SelfCommunicator self;
        placement = bind_threads(self, threads);
        for (int repeat = 0; repeat < 3; ++repeat) {
#pragma omp parallel
            found[static_cast<std::size_t>(omp_get_thread_num())] = gnnplan::testing::list_here();
        }
    }).join();
    if (placement.ranks.front().empty()) GTEST_SKIP() << placement.note;
    std::string all = found.front();
    for (std::size_t i = 1; i < found.size(); ++i) all += " " + found[i];
    EXPECT_EQ(placement.ranks.front(), all);
}
#endif

TEST(Place, NothingIsBoundWhereThreadsAreMoreThanUnits) {
    const int before = gnnplan::testing::units_here();
    comm::run_ranks(before + 1, [&](comm::Communicator& comm) {
        const Placement placement = bind_threads(comm, 1);
        EXPECT_THAT(placement.ranks, Each(IsEmpty()));
        EXPECT_TRUE(placement.warning);
        EXPECT_THAT(placement.note, ::testing::HasSubstr("more of them than processing units"));
        EXPECT_EQ(gnnplan::testing::units_here(), before);
    });
}

TEST(Place, WhatTheUserToldOpenMpHolds) {
    const int before = gnnplan::testing::units_here();
    setenv("OMP_PROC_BIND", "false", 1);
    comm::run_ranks(before, [&](comm::Communicator& comm) {
        const Placement placement = bind_threads(comm, 1);
        EXPECT_THAT(placement.note, HasSubstr("OMP_PROC_BIND"));
        EXPECT_THAT(placement.ranks, Each(IsEmpty()));
        EXPECT_EQ(gnnplan::testing::units_here(), before);
    });
    unsetenv("OMP_PROC_BIND");
}

#ifdef _OPENMP
TEST(Place, AMaskWithTooFewUnitsIsToldOf) {
    if (gnnplan::testing::units_here() < 2) GTEST_SKIP() << "one unit only";
    Placement placement;
    std::jthread([&] {
        comm::SelfCommunicator self;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        placement = bind_threads(self, 2);
    }).join();
    EXPECT_TRUE(placement.warning);
    EXPECT_THAT(placement.note, HasSubstr("`threads 1`"));
    EXPECT_THAT(placement.ranks, Each(IsEmpty()));
}
#endif

}  // namespace
}  // namespace gnnplan::place
