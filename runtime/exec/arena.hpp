// One block of memory that holds every dense buffer of a rank.
#pragma once

#include "runtime/exec/memory_tracker.hpp"

#include <gnnplan/ir/memory.hpp>

#include <cstddef>
#include <memory>
#include <new>

namespace gnnplan::exec {

class Arena {
public:
    Arena() = default;
    // Not initialised. Throws std::bad_alloc when the memory is not there.
    Arena(std::int64_t bytes, MemoryTracker& tracker)
        : charge_(tracker, bytes),
          data_(static_cast<std::byte*>(::operator new(static_cast<std::size_t>(bytes), alignment))) {}

    std::byte* at(std::int64_t offset) const { return data_.get() + offset; }
    explicit operator bool() const { return data_ != nullptr; }

private:
    static constexpr std::align_val_t alignment{static_cast<std::size_t>(arena_alignment)};
    struct Free {
        void operator()(std::byte* data) const { ::operator delete(data, alignment); }
    };

    Charge charge_;
    std::unique_ptr<std::byte, Free> data_;
};

}  // namespace gnnplan::exec
