#include "kernels/cuda/transfer_queue.hpp"

#include "kernels/cuda/error.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace gnnplan::kernels::cuda {
namespace {

constexpr const char* ordering = "ordering transfers and kernels";

// Has no event where CUDA makes none any more, after an error that finish() will tell.
class EventFence final : public Fence {
public:
    explicit EventFence(Queue& queue) {
        cudaEvent_t event = nullptr;
        queue.note(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), ordering);
        event_.reset(event);
    }
    cudaEvent_t event() const { return event_.get(); }

private:
    Event event_;
};

class Pinned final : public DeviceMemory {
public:
    explicit Pinned(std::size_t bytes) : memory_(allocate_pinned(bytes)), size_(bytes) {}
    std::byte* data() const override { return memory_.get(); }
    std::size_t size() const override { return size_; }

private:
    PinnedMemory memory_;
    std::size_t size_;
};

Stream open_transfers() {
    int least = 0;
    int greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for the priorities of streams");
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "opening a stream for transfers");
    return Stream(stream);
}

// Waits without sleeping at first: most passes of small graphs take less.
template <class Query>
cudaError_t wait_until(Queue& queue, Query query) {
    using namespace std::chrono;
    const auto begin = steady_clock::now();
    for (;;) {
        const cudaError_t result = query();
        if (is_done(queue, result)) return result;
        if (steady_clock::now() - begin < milliseconds(1)) continue;
        queue.look();
        std::this_thread::sleep_for(microseconds(50));
    }
}

}  // namespace

// CUDA may keep "not ready" for whoever asks for its last error, as if it were one.
bool is_done(Queue& queue, cudaError_t query) {
    if (query != cudaErrorNotReady) return true;
    if (const cudaError_t last = cudaGetLastError(); last != cudaErrorNotReady) queue.note(last, "a kernel");
    return false;
}

cudaError_t wait_for(Queue& queue, cudaStream_t stream) {
    return wait_until(queue, [stream] { return cudaStreamQuery(stream); });
}

cudaError_t wait_for(Queue& queue, cudaEvent_t event) {
    return wait_until(queue, [event] { return cudaEventQuery(event); });
}

GpuTransfers::GpuTransfers(Queue& kernels) : kernels_(kernels), stream_(open_transfers()) {}

std::shared_ptr<const Fence> GpuTransfers::fence(cudaStream_t stream) {
    auto fence = std::make_shared<EventFence>(kernels_);
    if (fence->event() != nullptr) kernels_.note(cudaEventRecord(fence->event(), stream), ordering);
    return fence;
}

void GpuTransfers::wait(cudaStream_t stream, const Fence& fence) {
    const cudaEvent_t event = dynamic_cast<const EventFence&>(fence).event();
    if (event != nullptr) kernels_.note(cudaStreamWaitEvent(stream, event, 0), ordering);
}

void GpuTransfers::wait_for(const Fence& fence) {
    const cudaEvent_t event = dynamic_cast<const EventFence&>(fence).event();
    if (event != nullptr) kernels_.note(cuda::wait_for(kernels_, event), "a transfer");
    if (kernels_.failed != cudaSuccess) fail(kernels_.failed, kernels_.failed_in, kernels_.failed_status);
}

std::unique_ptr<DeviceMemory> GpuTransfers::host_memory(std::size_t bytes) { return std::make_unique<Pinned>(bytes); }

// Ranks take the GPUs in turn. Where one does not reach another, or the driver allows no more, it copies through the
// host by itself.
void GpuTransfers::reach_others(int ranks) {
    int own = 0;
    int count = 0;
    check(cudaGetDevice(&own), "asking for the GPU");
    check(cudaGetDeviceCount(&count), "looking for GPUs");
    for (int other = 0; other < std::min(count, ranks); ++other) {
        int can = 0;
        if (other != own && cudaDeviceCanAccessPeer(&can, own, other) == cudaSuccess && can != 0)
            cudaDeviceEnablePeerAccess(other, 0);
        cudaGetLastError();  // none of these is an error of the run
    }
}

// CUDA knows by the addresses whose memory they are in.
void GpuTransfers::copy(std::span<const std::byte> from, std::byte* to) {
    kernels_.note(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyDefault, stream_.get()), "a transfer");
}

}  // namespace gnnplan::kernels::cuda
