// Ranks whose tensors lie in devices' own memories, connected through their hosts.
#pragma once

#include "kernels/device.hpp"
#include "runtime/comm/forwarding.hpp"

#include <memory>
#include <span>

namespace gnnplan::comm {

// Data calls take memory of the device: bytes to send are downloaded first, received ones are uploaded. A rank's
// message to itself stays on the device, and rows with gaps are packed there; these are of whole floats. A call that
// sends waits for all that the device was given before; what is queued after wait() finds what has come. The copies in
// the host's memory are no part of what a plan predicts.
class StagedCommunicator final : public ForwardingCommunicator {
public:
    // Both outlive it.
    StagedCommunicator(Communicator& hosts, kernels::Device& device) : ForwardingCommunicator(hosts), device_(device) {}
    StagedCommunicator(std::unique_ptr<Communicator> hosts, kernels::Device& device)
        : ForwardingCommunicator(std::move(hosts)), device_(device) {}

    bool needs_progress() const override { return false; }
    std::unique_ptr<PendingExchange> start_exchange(std::span<const Send> sends,
                                                    std::span<const Receive> receives) override;
    void exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) override;
    void broadcast(int root, std::span<std::byte> bytes) override;
    void all_reduce(std::span<float> values) override;
    void all_reduce(std::span<double> values) override;
    void all_reduce(std::span<kernels::SquareSum> values) override;
    std::unique_ptr<Communicator> split(int colour, int key) override;

private:
    template <class T>
    void sum(std::span<T> values);

    kernels::Device& device_;
};

std::unique_ptr<Communicator> through_hosts(Communicator& hosts, kernels::Device& device);

}  // namespace gnnplan::comm
