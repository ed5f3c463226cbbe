// The memory of a device without one.
#pragma once

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/out_of_memory.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>

namespace gnnplan::testing {

// Bytes that have two addresses: one is not to be touched, the other may be. Pages that nobody touches take no memory.
class TwofoldMemory {
public:
    TwofoldMemory() : file_(memfd_create("emulated device", 0)) {
        ensure(file_ >= 0 && ftruncate(file_, capacity) == 0, "the emulated device gets no memory");
        closed_ = map(PROT_NONE);
        open_ = map(PROT_READ | PROT_WRITE);
    }
    TwofoldMemory(const TwofoldMemory&) = delete;
    TwofoldMemory& operator=(const TwofoldMemory&) = delete;
    ~TwofoldMemory() {
        munmap(closed_, capacity);
        munmap(open_, capacity);
        close(file_);
    }

    // Never given back, so that a dangling address does not become another buffer's.
    std::byte* allocate(std::size_t bytes) {
        std::byte* place = closed_ + used_;
        used_ += (bytes + alignment) / alignment * alignment;
        if (used_ > capacity) throw OutOfMemory(bytes, "the emulated device's memory");
        std::memset(opened(place), 0xff, bytes);
        return place;
    }
    bool has(const std::byte* address) const { return address >= closed_ && address < closed_ + used_; }
    template <class T>
    T* opened(T* address) const {
        if (address == nullptr) return nullptr;
        const auto* byte = reinterpret_cast<const std::byte*>(address);
        ensure(byte >= closed_ && byte <= closed_ + used_, "an address that is not of the device reached a kernel");
        return reinterpret_cast<T*>(open_ + (byte - closed_));
    }

private:
    static constexpr std::size_t capacity = std::size_t{1} << 28;
    static constexpr std::size_t alignment = 64;

    std::byte* map(int protection) const {
        void* address = mmap(nullptr, capacity, protection, MAP_SHARED, file_, 0);
        ensure(address != MAP_FAILED, "the emulated device gets no address");
        return static_cast<std::byte*>(address);
    }

    int file_;
    std::byte* closed_ = nullptr;
    std::byte* open_ = nullptr;
    std::atomic<std::size_t> used_ = 0;  // other devices' transfers look, too
};

}  // namespace gnnplan::testing
