// The memory that CUDA takes of a GPU beside what is asked for.
#pragma once

#include "kernels/device.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gnnplan::bench {

// The memory that something took, and how much of it our own code had asked for.
struct Taken {
    std::string what;
    std::int64_t bytes = 0;
    std::int64_t asked = 0;
};

// A process of its own that opens a context of the GPU when it is told to: what the memory lacks then is the context,
// which a process cannot see of itself. To be made before this process uses CUDA, which does not outlive a fork.
class SecondContext {
public:
    SecondContext();
    SecondContext(const SecondContext&) = delete;
    SecondContext& operator=(const SecondContext&) = delete;
    ~SecondContext();  // it is gone

    bool open();  // whether the process has a context now

private:
    int tell_ = -1, hear_ = -1;
    int process_ = -1;
};

// The bytes of a context, empty where the second process got none, and those that are free once this process has one.
// Throws Error{unavailable} where there is no GPU.
struct ContextMemory {
    std::optional<std::int64_t> bytes;
    std::int64_t free = 0;
};
ContextMemory measure_context();

// The opening of the device, and the first use of each library and of our kernels, which load code; `free` was free
// before the device was opened.
std::vector<Taken> measure_first_uses(kernels::Device& device, std::int64_t free);

// The memory of some allocations of each of several sizes together.
std::vector<Taken> measure_allocations(kernels::Device& device);

}  // namespace gnnplan::bench
