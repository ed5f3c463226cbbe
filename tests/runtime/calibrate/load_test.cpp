// The conclusions from readings; the readings are the tests' own.
#include "runtime/calibrate/load.hpp"
#include "runtime/comm/self.hpp"
#include "runtime/comm/threads.hpp"

#include <gtest/gtest.h>

namespace gnnplan::calibrate {
namespace {

// After ten seconds in which the cores were busy for so long.
LoadReading after(std::vector<double> busy, std::vector<int> cores, double own, std::int64_t preempted = 0) {
    return {110, std::move(busy), std::move(cores), own, preempted};
}
LoadReading before(std::vector<int> cores) { return {100, {0, 0, 0, 0}, std::move(cores), 0, 0}; }

Load alone(const LoadReading& first, const LoadReading& last) {
    comm::SelfCommunicator self;
    const Nodes nodes = find_nodes(self, 0);
    return load_between(self, nodes, true, first, last);
}

TEST(Load, IsWhatOthersTookOfTheCoresThatMayBeUsed) {
    const Load load = alone(before({0, 1}), after({10, 6, 10, 10}, {0, 1}, 8, 30));
    EXPECT_DOUBLE_EQ(load.others, (16.0 - 8) / 20);
    EXPECT_DOUBLE_EQ(load.preempted, 3);
    EXPECT_EQ(load.cores, 2);
}

TEST(Load, IsNoneWhereOnlyWeWereBusy) {
    EXPECT_EQ(alone(before({0, 1}), after({10, 9.9, 0, 0}, {0, 1}, 20)).others, 0);
    EXPECT_EQ(alone(before({0, 1}), after({0, 0, 10, 10}, {0, 1}, 0)).others, 0);  // other cores
}

TEST(Load, IsNoneWhereTheSystemDoesNotTell) {
    EXPECT_EQ(alone({100, {}, {0, 1}, 0, 0}, {110, {}, {0, 1}, 10, 0}).others, 0);
    EXPECT_EQ(alone({100, {}, {}, 0, 0}, {110, {}, {}, 10, 0}).others, 0);
}

// Two ranks bound to a core each, as mpirun does: every rank reads all cores, and its own time.
TEST(Load, AddsUpTheTimesOfProcesses) {
    comm::run_ranks(2, [](comm::Communicator& comm) {
        const Nodes nodes = find_nodes(comm, 0);
        const std::vector<int> mine{comm.rank()};
        const auto last = [&](double own) { return after({10, 10, 10, 10}, mine, own, 10 * comm.rank()); };
        EXPECT_EQ(load_between(comm, nodes, true, before(mine), last(10)).others, 0);
        const Load load = load_between(comm, nodes, true, before(mine), last(6));
        EXPECT_DOUBLE_EQ(load.others, (20.0 - 12) / 20);
        EXPECT_EQ(load.cores, 2);
        EXPECT_DOUBLE_EQ(load.preempted, 1);
        // Threads read the time of their common process.
        EXPECT_EQ(load_between(comm, nodes, false, before(mine), last(20)).others, 0);
    });
}

TEST(Load, IsThatOfTheBusiestNode) {
    comm::run_ranks(2, [](comm::Communicator& comm) {
        const Nodes nodes = find_nodes(comm, 1);
        const LoadReading last = after({10, 0, 0, 0}, {0}, comm.rank() == 1 ? 4 : 10);
        EXPECT_DOUBLE_EQ(load_between(comm, nodes, true, before({0}), last).others, 0.6);
    });
}

TEST(Load, OfThisSystemCanBeRead) {
    SystemLoad system;
    const LoadReading reading = system.read();
    EXPECT_FALSE(reading.cores.empty());
    EXPECT_GT(reading.own_seconds, 0);
}

}  // namespace
}  // namespace gnnplan::calibrate
