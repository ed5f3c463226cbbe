// Ranks whose devices are linked, as by NCCL.
#pragma once

#include "runtime/comm/device_communicator.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::comm {

// Exchanges are transfers beside the kernels of the device: each comes after what was queued before it began, and what
// is queued after wait() comes after it. While the device waits for other ranks, those that failed are noticed.
class LinkedCommunicator final : public DeviceCommunicator {
public:
    // Collective.
    LinkedCommunicator(Communicator& hosts, kernels::Device& device, std::shared_ptr<kernels::Links> links);
    // The ranks of `hosts` have the numbers `ranks` among those that are linked.
    LinkedCommunicator(std::unique_ptr<Communicator> hosts, kernels::Device& device,
                       std::shared_ptr<kernels::Links> links, std::vector<int> ranks);

    std::unique_ptr<Communicator> split(int colour, int key) override;

private:
    class Queued;

    std::unique_ptr<Moving> move(std::vector<Send> sends, std::vector<Receive> receives) override;
    void sum(std::span<float> values) override { sum_by_links(values); }
    void sum(std::span<double> values) override { sum_by_links(values); }
    template <class T>
    void sum_by_links(std::span<T> values);
    int linked(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

    std::shared_ptr<kernels::Links> links_;
    std::vector<int> ranks_;
    bool all_ = false;  // of the ranks that are linked, in their order
    std::shared_ptr<const kernels::Device::Look> look_;
};

}  // namespace gnnplan::comm
