#include "runtime/comm/linked.hpp"

#include <gnnplan/base/error.hpp>

#include <utility>

namespace gnnplan::comm {

class LinkedCommunicator::Queued final : public Moving {
public:
    Queued(kernels::TransferQueue& transfers, std::shared_ptr<const kernels::Fence> done)
        : transfers_(transfers), done_(std::move(done)) {}
    void finish() override { transfers_.compute_after(*done_); }

private:
    kernels::TransferQueue& transfers_;
    std::shared_ptr<const kernels::Fence> done_;
};

LinkedCommunicator::LinkedCommunicator(Communicator& hosts, kernels::Device& device,
                                       std::shared_ptr<kernels::Links> links)
    : DeviceCommunicator(hosts, device),
      links_(std::move(links)),
      ranks_(all_ranks(hosts.size())),
      all_(true),
      look_(device.look_while_waiting([&hosts] { hosts.check_others(); })) {
    ensure(device.transfers() != nullptr, "linked devices move data beside their kernels");
}

LinkedCommunicator::LinkedCommunicator(std::unique_ptr<Communicator> hosts, kernels::Device& device,
                                       std::shared_ptr<kernels::Links> links, std::vector<int> ranks)
    : DeviceCommunicator(std::move(hosts), device), links_(std::move(links)), ranks_(std::move(ranks)) {}

std::unique_ptr<DeviceCommunicator::Moving> LinkedCommunicator::move(std::vector<Send> sends,
                                                                     std::vector<Receive> receives) {
    for (Send& send : sends) send.peer = linked(send.peer);
    for (Receive& receive : receives) receive.peer = linked(receive.peer);
    kernels::TransferQueue& transfers = *device().transfers();
    transfers.transfer_after(*transfers.computed());
    if (!sends.empty() || !receives.empty()) links_->exchange(sends, receives);
    return std::make_unique<Queued>(transfers, transfers.transferred());
}

template <class T>
void LinkedCommunicator::sum_by_links(std::span<T> values) {
    if (!all_) return DeviceCommunicator::sum(values);
    kernels::TransferQueue& transfers = *device().transfers();
    transfers.transfer_after(*transfers.computed());
    links_->sum(values);
    transfers.compute_after(*transfers.transferred());
}

std::unique_ptr<Communicator> LinkedCommunicator::split(int colour, int key) {
    std::unique_ptr<Communicator> group = inner().split(colour, key);
    std::vector<int> ranks;
    for (const std::string& rank : group->control_all_gather(std::to_string(linked(this->rank()))))
        ranks.push_back(std::stoi(rank));
    return std::make_unique<LinkedCommunicator>(std::move(group), device(), links_, std::move(ranks));
}

}  // namespace gnnplan::comm
