#include "runtime/comm/peers.hpp"

#include <gnnplan/base/error.hpp>

#include <utility>

namespace gnnplan::comm {
namespace {

using kernels::TransferQueue;

ThreadGroup& mailboxes_of(Communicator& hosts) {
    auto* threads = dynamic_cast<ThreadCommunicator*>(&hosts);
    ensure(threads != nullptr, "peers are threads of one process");
    return threads->mailboxes();
}

// Moves the messages of one exchange of this rank.
class CopiesOfDevice final : public Movement {
public:
    CopiesOfDevice(TransferQueue& transfers, Ticket begun) : transfers_(transfers), begun_(std::move(begun)) {}

    Ticket ready() override { return begun_; }
    Ticket move(const ConstRows& from, const Ticket& ready, const MutableRows& to) override {
        transfers_.transfer_after(*begun_);
        transfers_.transfer_after(*ready);
        transfers_.copy({from.data, from.bytes()}, to.data);
        came_ = transfers_.transferred();
        return came_;
    }
    void moved(const Ticket& ticket) override {
        if (ticket != nullptr) transfers_.compute_after(*ticket);  // null: the receiver has failed
    }
    void wait_for_received() {
        if (came_ != nullptr) transfers_.compute_after(*came_);
    }

private:
    TransferQueue& transfers_;
    Ticket begun_, came_;
};

}  // namespace

class PeerCommunicator::Copied final : public Moving {
public:
    Copied(PeerCommunicator& ranks, const std::vector<Send>& sends, const std::vector<Receive>& receives)
        : ranks_(ranks), begun_(ranks.device().transfers()->computed()) {
        for (const Send& send : sends) sends_.push_back({send.peer, one_row(send.bytes), {}});
        for (const Receive& receive : receives) receives_.push_back({receive.peer, one_row(receive.bytes), {}});
    }
    void finish() override {
        CopiesOfDevice copies(*ranks_.device().transfers(), begun_);
        ranks_.mailboxes_.transfer(ranks_.rank(), sends_, receives_, copies);
        copies.wait_for_received();
    }

private:
    PeerCommunicator& ranks_;
    Movement::Ticket begun_;
    std::vector<SendBlock> sends_;
    std::vector<ReceiveBlock> receives_;
};

PeerCommunicator::PeerCommunicator(Communicator& hosts, kernels::Device& device)
    : DeviceCommunicator(hosts, device), mailboxes_(mailboxes_of(hosts)) {
    ensure(device.transfers() != nullptr, "devices of peers move data beside their kernels");
    device.transfers()->reach_others(hosts.size());
}

PeerCommunicator::PeerCommunicator(std::unique_ptr<Communicator> hosts, ThreadGroup& mailboxes, kernels::Device& device)
    : DeviceCommunicator(std::move(hosts), device), mailboxes_(mailboxes) {}

std::unique_ptr<DeviceCommunicator::Moving> PeerCommunicator::move(std::vector<Send> sends,
                                                                   std::vector<Receive> receives) {
    return std::make_unique<Copied>(*this, sends, receives);
}

std::unique_ptr<Communicator> PeerCommunicator::split(int colour, int key) {
    std::unique_ptr<Communicator> group = inner().split(colour, key);
    ThreadGroup& mailboxes = mailboxes_of(*group);
    return std::make_unique<PeerCommunicator>(std::move(group), mailboxes, device());
}

std::unique_ptr<Communicator> between_peers(Communicator& hosts, kernels::Device& device) {
    return std::make_unique<PeerCommunicator>(hosts, device);
}

}  // namespace gnnplan::comm
