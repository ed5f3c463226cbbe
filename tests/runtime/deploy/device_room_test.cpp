#include "runtime/deploy/device_room.hpp"

#include "runtime/comm/threads.hpp"
#include "runtime/deploy/fitting.hpp"
#include "tests/runtime/train/fixture.hpp"
#include "tests/support/emulated_device.hpp"

namespace gnnplan::deploy {
namespace {

constexpr std::int64_t held = 1000;

// The room as four ranks hear it, rank i with a device that has `free[i]`.
DeviceRoom room_of(std::vector<kernels::FreeMemory> free) {
    for (kernels::FreeMemory& each : free) each.held_bytes = held;
    std::vector<std::optional<DeviceRoom>> heard(free.size());
    comm::run_ranks(static_cast<int>(free.size()), [&](comm::Communicator& comm) {
        const auto rank = static_cast<std::size_t>(comm.rank());
        heard[rank] = device_room(comm, *gnnplan::testing::emulated_device({.free = free[rank]}));
    });
    for (const auto& room : heard) {
        EXPECT_TRUE(room.has_value());
        EXPECT_EQ(room->bytes_per_rank, heard[0]->bytes_per_rank);
        EXPECT_EQ(room->ranks, heard[0]->ranks);
    }
    return *heard[0];
}

TEST(DeviceRoom, IsOfTheDeviceThatHasLeastForARank) {
    const DeviceRoom own = room_of({{"a", 100}, {"b", 70}, {"c", 90}});
    EXPECT_EQ(own.bytes_per_rank, 70 + held);
    EXPECT_EQ(own.ranks, 1);
    // Ranks that share one divide it; they may have looked at different moments.
    const DeviceRoom shared = room_of({{"a", 100}, {"b", 40}, {"a", 91}, {"a", 96}});
    EXPECT_EQ(shared.bytes_per_rank, 30 + held);
    EXPECT_EQ(shared.ranks, 3);
}

TEST(DeviceRoom, IsUnknownWhereNobodySaysIt) {
    comm::run_ranks(2, [](comm::Communicator& comm) {
        EXPECT_FALSE(device_room(comm, *kernels::host_device(kernels::reference_table())));
        EXPECT_FALSE(device_room(comm, *gnnplan::testing::emulated_device()));
    });
}

// Candidates that need more are left out, and where none is left the error says what is needed and what is free.
TEST(CandidatesThatFit, AreThoseThatTheDeviceHasRoomFor) {
    const data::Dataset dataset = train::testing::open(gnnplan::testing::random_symmetric(200, 30, 2, 2, 2));
    const Plan plan = train::testing::make_plan(dataset, 2, false, 2, {{2, 6}, {1, 6}});
    const TensorMemory memory{.accelerator = true};
    const auto peak = [&](std::size_t index) {
        const Schedule& schedule = plan.candidates[index].schedule;
        return peak_bytes_per_rank(schedule, *counts_for(schedule, dataset), memory);
    };
    ASSERT_NE(peak(0), peak(1));
    const int thriftier = peak(0) < peak(1) ? 0 : 1;
    const exec::GraphCounts graph = counts_of(dataset);
    const auto fitting = [&](std::int64_t bytes) {
        return candidates_that_fit(plan, {0, 1}, graph, memory, DeviceRoom{bytes, 1});
    };
    EXPECT_EQ(fitting(std::max(peak(0), peak(1))), (std::vector<int>{0, 1}));
    EXPECT_EQ(fitting(std::max(peak(0), peak(1)) - 1), std::vector<int>{thriftier});
    try {
        fitting(std::min(peak(0), peak(1)) - 1);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::infeasible);
        EXPECT_EQ(std::string(error.what()).find("out of memory: each rank needs "), 0U) << error.what();
    }
}

}  // namespace
}  // namespace gnnplan::deploy
