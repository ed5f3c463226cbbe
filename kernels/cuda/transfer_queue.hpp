// The queue of a GPU in which data moves while kernels run.
#pragma once

#include "kernels/cuda/queue.hpp"
#include "kernels/cuda/transfers.hpp"
#include "kernels/links.hpp"

#include <memory>

namespace gnnplan::kernels::cuda {

struct DestroyStream {
    void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using Stream = std::unique_ptr<CUstream_st, DestroyStream>;

// On the thread's current GPU. Kernels that move data wait behind all blocks of kernels that compute unless their
// stream is of a higher priority.
class GpuTransfers final : public TransferQueue {
public:
    explicit GpuTransfers(Queue& kernels);

    cudaStream_t stream() const { return stream_.get(); }

    std::shared_ptr<const Fence> computed() override { return fence(kernels_.stream); }
    std::shared_ptr<const Fence> transferred() override { return fence(stream_.get()); }
    void compute_after(const Fence& fence) override { wait(kernels_.stream, fence); }
    void transfer_after(const Fence& fence) override { wait(stream_.get(), fence); }
    void wait_for(const Fence& fence) override;
    std::unique_ptr<DeviceMemory> host_memory(std::size_t bytes) override;
    void reach_others(int ranks) override;
    void copy(std::span<const std::byte> from, std::byte* to) override;

private:
    std::shared_ptr<const Fence> fence(cudaStream_t stream);
    void wait(cudaStream_t stream, const Fence& fence);

    Queue& kernels_;
    Stream stream_;
};

}  // namespace gnnplan::kernels::cuda
