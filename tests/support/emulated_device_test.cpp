#include "tests/support/emulated_device.hpp"

#include "runtime/comm/peers.hpp"
#include "runtime/comm/threads.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace gnnplan::testing {
namespace {

std::vector<float> ascending(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.0F);
    return values;
}

kernels::Matrix row_of(const kernels::DeviceMemory& memory) {
    const auto columns = static_cast<std::int64_t>(memory.size() / sizeof(float));
    return {reinterpret_cast<float*>(memory.data()), 1, columns, columns};
}

std::vector<float> downloaded(kernels::Device& device, const kernels::DeviceMemory& memory) {
    std::vector<float> values(memory.size() / sizeof(float));
    device.download(memory.data(), std::as_writable_bytes(std::span(values)));
    device.finish();
    return values;
}

TEST(EmulatedDevice, MovesMoreThanItHasRoomForAtATime) {
    const auto device = emulated_device();
    const std::vector<float> values = ascending(30'000);
    const auto memory = device->allocate(values.size() * sizeof(float));
    kernels::upload(*device, std::as_bytes(std::span(values)), memory->data());
    EXPECT_EQ(downloaded(*device, *memory), values);
    EXPECT_EQ(downloaded(*device, *kernels::take(*device, values)), values);
}

TEST(EmulatedDevice, KernelsRunWhenSomebodyWaits) {
    const auto device = emulated_device();
    const auto a = kernels::take(*device, ascending(5));
    const auto sum = kernels::take(*device, ascending(5));
    device->table().add(row_of(*a), row_of(*sum));
    std::vector<float> early(5, -1);
    device->download(sum->data(), std::as_writable_bytes(std::span(early)));
    EXPECT_EQ(early, std::vector<float>(5, -1));
    device->finish();
    EXPECT_EQ(early, (std::vector<float>{2, 4, 6, 8, 10}));
}

TEST(EmulatedDevice, CommunicationComesAfterWhatWasQueuedBefore) {
    comm::run_ranks(3, [](comm::Communicator& comm) {
        const auto device = emulated_device();
        const auto world = on_emulated_device(comm, *device);
        const auto values = kernels::take(*device, ascending(4));
        const kernels::Matrix row = row_of(*values);
        device->table().add_scaled(static_cast<float>(comm.rank()), nullptr,
                                   row_of(*kernels::take(*device, ascending(4))), row);
        world->all_reduce(std::span<float>(row.data, 4));
        EXPECT_EQ(downloaded(*device, *values), (std::vector<float>{6, 12, 18, 24}));
    });
}

// The values that the second rank gets from the first, which then overwrites them, in so many orders.
// `sender_first`: the first rank's device does all that it can before the second one's begins.
std::vector<float> received_while_overwritten(Ordering missing, const comm::OpenCommunicator& connect,
                                              bool sender_first) {
    std::vector<float> received;
    for (unsigned order = 1; order <= 12; ++order) {
        comm::run_ranks(2, [&](comm::Communicator& comm) {
            const auto device = emulated_device({order, missing});
            const auto world = connect(comm, *device);
            const auto memory = kernels::take(*device, ascending(1));
            const comm::Send send{1, {memory->data(), memory->size()}};
            const comm::Receive receive{0, {memory->data(), memory->size()}};
            if (comm.rank() == 0)
                world->exchange({&send, 1}, {});
            else
                world->exchange({}, {&receive, 1});
            device->table().add(row_of(*memory), row_of(*memory));
            if (sender_first && comm.rank() == 1) comm.barrier();
            const float doubled = downloaded(*device, *memory).front();
            if (sender_first && comm.rank() == 0) comm.barrier();
            if (comm.rank() == 1) received.push_back(doubled / 2);
            if (sender_first) comm.barrier();  // nobody's memory goes before
        });
    }
    return received;
}

TEST(EmulatedDevice, WhatIsSentIsOverwrittenOnlyAfterwards) {
    const std::vector<float> right(12, 1);
    EXPECT_EQ(received_while_overwritten(Ordering::all, on_emulated_device, false), right);
    EXPECT_NE(received_while_overwritten(Ordering::overwrite_after_transfer, on_emulated_device, false), right);
    EXPECT_EQ(received_while_overwritten(Ordering::all, comm::between_peers, true), right);
    EXPECT_NE(received_while_overwritten(Ordering::overwrite_after_peer, comm::between_peers, true), right);
}

TEST(EmulatedDeviceDeathTest, TheHostCannotTouchItsMemory) {
    const auto device = emulated_device();
    const auto memory = device->allocate(8);
    EXPECT_DEATH(*const_cast<volatile std::byte*>(memory->data()) = std::byte{1}, "");
    float host = 0;
    EXPECT_THROW(device->table().dot(row_of(*memory), row_of(*memory), &host), std::exception);
}

}  // namespace
}  // namespace gnnplan::testing
