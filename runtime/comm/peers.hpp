// Ranks that are threads of one process, whose devices copy from each other's memory.
#pragma once

#include "runtime/comm/device_communicator.hpp"
#include "runtime/comm/thread_communicator.hpp"

#include <memory>
#include <span>
#include <vector>

namespace gnnplan::comm {

// A message is copied once, by the receiver's device, beside its kernels: after what both ranks had queued when their
// exchanges began. The hosts tell each other where it lies, and do not wait for any device. Doubles are added up by
// the hosts.
class PeerCommunicator final : public DeviceCommunicator {
public:
    // Throws ErrorCode::internal where `hosts` are no threads.
    PeerCommunicator(Communicator& hosts, kernels::Device& device);
    PeerCommunicator(std::unique_ptr<Communicator> hosts, ThreadGroup& mailboxes, kernels::Device& device);

    std::unique_ptr<Communicator> split(int colour, int key) override;

private:
    class Copied;

    std::unique_ptr<Moving> move(std::vector<Send> sends, std::vector<Receive> receives) override;

    ThreadGroup& mailboxes_;
};

std::unique_ptr<Communicator> between_peers(Communicator& hosts, kernels::Device& device);

}  // namespace gnnplan::comm
