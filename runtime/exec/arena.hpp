// One block of memory that holds every dense buffer of a rank.
#pragma once

#include "kernels/large_buffer.hpp"
#include "runtime/exec/memory_tracker.hpp"

#include <cstddef>
#include <cstdint>

namespace gnnplan::exec {

class Arena {
public:
    Arena() = default;
    // Not initialised. Throws OutOfMemory, a std::bad_alloc.
    Arena(std::int64_t bytes, MemoryTracker& tracker)
        : charge_(tracker, bytes), data_(static_cast<std::size_t>(bytes)) {}

    std::byte* at(std::int64_t offset) const { return data_.data() + offset; }
    explicit operator bool() const { return data_.data() != nullptr; }

private:
    Charge charge_;
    kernels::LargeBuffer data_;
};

}  // namespace gnnplan::exec
