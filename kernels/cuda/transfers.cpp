#include "kernels/cuda/transfers.hpp"

#include "kernels/cuda/error.hpp"

#include <gnnplan/base/out_of_memory.hpp>

#include <algorithm>
#include <utility>

namespace gnnplan::kernels::cuda {
namespace {

constexpr const char* copying = "copying to the GPU";

// Pieces of pinned memory begin where a line of 64 bytes does.
std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

void FreePinned::operator()(std::byte* memory) const { cudaFreeHost(memory); }
void DestroyEvent::operator()(cudaEvent_t event) const { cudaEventDestroy(event); }

PinnedMemory allocate_pinned(std::size_t bytes) {
    void* memory = nullptr;
    const cudaError_t result = cudaHostAlloc(&memory, bytes, cudaHostAllocDefault);
    if (result == cudaErrorMemoryAllocation) {
        cudaGetLastError();  // it is told here, and not once more by finish()
        throw OutOfMemory(bytes, "pinned memory");
    }
    check(result, "allocating pinned memory");
    return PinnedMemory(static_cast<std::byte*>(memory));
}

Event make_event(unsigned flags) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, flags), "making an event");
    return Event(event);
}

Uploads::Uploads(Queue& queue) : queue_(queue), memory_(allocate_pinned(2 * half_bytes)) {
    for (Event& event : copied_) event = make_event(cudaEventDisableTiming);
}

std::span<std::byte> Uploads::stage(std::byte* to, std::size_t bytes) {
    to_ = to;
    if (used_ > 0 && bytes > half_bytes - used_) {
        queue_.note(cudaEventRecord(copied_[half_].get(), queue_.stream), copying);
        half_ = 1 - half_, used_ = 0;
        queue_.note(cudaEventSynchronize(copied_[half_].get()), copying);
    }
    return {place(), std::min(bytes, half_bytes)};
}

void Uploads::send(std::size_t bytes) {
    queue_.note(cudaMemcpyAsync(to_, place(), bytes, cudaMemcpyHostToDevice, queue_.stream), copying);
    used_ = std::min(half_bytes, used_ + whole_lines(bytes));
}

Downloads::Downloads(Queue& queue) : queue_(queue), memory_(allocate_pinned(room)) {}

void Downloads::add(const std::byte* from, std::span<std::byte> to) {
    while (!to.empty()) {
        if (used_ == room) collect();
        const std::size_t bytes = std::min(to.size(), room - used_);
        std::byte* slot = memory_.get() + used_;
        queue_.note(cudaMemcpyAsync(slot, from, bytes, cudaMemcpyDeviceToHost, queue_.stream), "copying to the host");
        waiting_.push_back({slot, to.first(bytes)});
        used_ += whole_lines(bytes);
        from += bytes;
        to = to.subspan(bytes);
    }
}

void Downloads::collect() {
    const std::vector<Waiting> waiting = std::exchange(waiting_, {});  // nobody hands them out where waiting throws
    used_ = 0;
    queue_.note(wait_for(queue_, queue_.stream), "what was queued");
    for (const Waiting& copy : waiting) {
        if (queue_.failed == cudaSuccess) std::copy_n(copy.from, copy.to.size(), copy.to.data());
    }
}

}  // namespace gnnplan::kernels::cuda
