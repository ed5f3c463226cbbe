// Ranks whose tensors lie in devices' own memories, connected through their hosts.
#pragma once

#include "runtime/comm/device_communicator.hpp"
#include "runtime/comm/host_room.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gnnplan::comm {

// An exchange takes messages to the host beside the kernels of the device, as far as the room reaches; wait() sends
// each round as soon as it is there, takes what comes back to the device, and fetches the next. Sums that the room
// holds are made by the hosts, which wait for the device; larger ones on the devices.
class StagedCommunicator final : public DeviceCommunicator {
public:
    // Both outlive it. All ranks have as large a slot. Throws OutOfMemory.
    StagedCommunicator(Communicator& hosts, kernels::Device& device, std::size_t slot = HostRoom::slot_bytes)
        : DeviceCommunicator(hosts, device), slot_(slot), room_(*device.transfers(), size(), slot) {}
    StagedCommunicator(std::unique_ptr<Communicator> hosts, kernels::Device& device,
                       std::size_t slot = HostRoom::slot_bytes)
        : DeviceCommunicator(std::move(hosts), device), slot_(slot), room_(*device.transfers(), size(), slot) {}

    std::unique_ptr<Communicator> split(int colour, int key) override;
    std::int64_t host_bytes() const override { return room_.bytes(); }

private:
    class Staged;

    std::unique_ptr<Moving> move(std::vector<Send> sends, std::vector<Receive> receives) override;
    void sum(std::span<float> values) override { sum_in_room(values); }
    void sum(std::span<double> values) override { sum_in_room(values); }
    void sum(std::span<kernels::SquareSum> values) override { sum_in_room(values); }

    template <class T>
    void sum_in_room(std::span<T> values);

    std::size_t slot_;
    HostRoom room_;
};

std::unique_ptr<Communicator> through_hosts(Communicator& hosts, kernels::Device& device);

}  // namespace gnnplan::comm
