// The GPUs of several ranks, connected by NCCL.
#pragma once

#include "kernels/cuda/transfer_queue.hpp"
#include "kernels/device.hpp"

#include <memory>

namespace gnnplan::kernels::cuda {

// Links that can be given up while they wait for ranks that will never come.
class NcclLinks : public Links {
public:
    virtual void give_up() = 0;
};

// Collective. On return all ranks have exchanged messages and summed, so that the library holds all the memory that it
// will. Throws Error{unavailable}.
std::shared_ptr<NcclLinks> nccl_links(Device& device, Queue& queue, GpuTransfers& transfers, const Peers& peers);

// Why nccl_links() would fail; empty where nothing speaks against it.
std::string cannot_use_nccl();

}  // namespace gnnplan::kernels::cuda
