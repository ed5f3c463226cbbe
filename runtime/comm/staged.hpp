// Ranks whose tensors lie in devices' own memories, connected through their hosts.
#pragma once

#include "runtime/comm/device_communicator.hpp"

#include <memory>
#include <span>
#include <vector>

namespace gnnplan::comm {

// Memory of the host that devices read and write, kept for the next message.
class HostRoom {
public:
    explicit HostRoom(kernels::TransferQueue& transfers) : transfers_(transfers) {}

    struct Piece {
        std::unique_ptr<kernels::DeviceMemory> memory;
        std::shared_ptr<const kernels::Fence> used;  // null, or what has to be passed before it is used again
    };
    // At least as long; nothing uses it any more.
    Piece take(std::size_t bytes);
    void give_back(Piece piece) { free_.push_back(std::move(piece)); }

private:
    kernels::TransferQueue& transfers_;
    std::vector<Piece> free_;
};

// An exchange takes messages to the host beside the kernels of the device, piece by piece; wait() sends each piece as
// soon as it is there, and takes what comes back to the device. Sums are made by the hosts, which wait for the device.
// The copies in the host's memory are no part of what a plan predicts.
class StagedCommunicator final : public DeviceCommunicator {
public:
    // Both outlive it.
    StagedCommunicator(Communicator& hosts, kernels::Device& device)
        : DeviceCommunicator(hosts, device), room_(*device.transfers()) {}
    StagedCommunicator(std::unique_ptr<Communicator> hosts, kernels::Device& device)
        : DeviceCommunicator(std::move(hosts), device), room_(*device.transfers()) {}

    std::unique_ptr<Communicator> split(int colour, int key) override;

private:
    class Staged;

    std::unique_ptr<Moving> move(std::vector<Send> sends, std::vector<Receive> receives) override;
    void sum(std::span<float> values) override { sum_on_hosts(values); }
    void sum(std::span<kernels::SquareSum> values) override { sum_on_hosts(values); }

    HostRoom room_;
};

std::unique_ptr<Communicator> through_hosts(Communicator& hosts, kernels::Device& device);

}  // namespace gnnplan::comm
