// Copies between the host and the device, through pinned memory, which the device reads and writes while the host does
// other things.
#pragma once

#include "kernels/cuda/queue.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace gnnplan::kernels::cuda {

struct FreePinned {
    void operator()(std::byte* memory) const;
};
struct DestroyEvent {
    void operator()(cudaEvent_t event) const;
};
using PinnedMemory = std::unique_ptr<std::byte, FreePinned>;
using Event = std::unique_ptr<CUevent_st, DestroyEvent>;

// Throws OutOfMemory.
PinnedMemory allocate_pinned(std::size_t bytes);
Event make_event(unsigned flags);

// Whether a stream or an event is, of which CUDA says this.
bool is_done(Queue& queue, cudaError_t query);
// Wait until all that a stream holds is done, or all that came before an event; the host looks around meanwhile.
cudaError_t wait_for(Queue& queue, cudaStream_t stream);
cudaError_t wait_for(Queue& queue, cudaEvent_t event);

// To the device: the host fills one half of the memory while the other is copied. Small pieces, such as rows, share a
// half, so that the host waits for the device once a half.
class Uploads {
public:
    explicit Uploads(Queue& queue);

    // Memory of the half in use, or of the next one, once its copies are done; at most `bytes` of it.
    std::span<std::byte> stage(std::byte* to, std::size_t bytes);
    // Queues the copy of its first bytes.
    void send(std::size_t bytes);

private:
    static constexpr std::size_t half_bytes = std::size_t{8} << 20;

    std::byte* place() const { return memory_.get() + half_ * half_bytes + used_; }

    Queue& queue_;
    PinnedMemory memory_;
    std::array<Event, 2> copied_;
    std::size_t half_ = 0;
    std::size_t used_ = 0;  // bytes of it
    std::byte* to_ = nullptr;
};

// To the host: what was copied waits in pinned memory until collect() hands it out.
class Downloads {
public:
    explicit Downloads(Queue& queue);

    // Queues a copy. Where there is no room left it waits for those before.
    void add(const std::byte* from, std::span<std::byte> to);
    // Waits for all that is queued; hands nothing out if something of it failed.
    void collect();

private:
    struct Waiting {
        const std::byte* from;
        std::span<std::byte> to;
    };
    static constexpr std::size_t room = std::size_t{8} << 20;

    Queue& queue_;
    PinnedMemory memory_;
    std::size_t used_ = 0;
    std::vector<Waiting> waiting_;
};

}  // namespace gnnplan::kernels::cuda
