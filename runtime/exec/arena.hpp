// One block of memory that holds every dense buffer of a rank.
#pragma once

#include "kernels/device.hpp"
#include "runtime/exec/memory_tracker.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace gnnplan::exec {

class Arena {
public:
    Arena() = default;
    // Not initialised. Throws OutOfMemory, a std::bad_alloc.
    Arena(kernels::Device& device, std::int64_t bytes, MemoryTracker& tracker)
        : charge_(tracker, bytes, Holder::tensors), memory_(device.allocate(static_cast<std::size_t>(bytes))) {}

    std::byte* at(std::int64_t offset) const { return memory_->data() + offset; }

private:
    Charge charge_;
    std::unique_ptr<kernels::DeviceMemory> memory_;
};

}  // namespace gnnplan::exec
