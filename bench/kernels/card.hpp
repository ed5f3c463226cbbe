// The GPU that a measurement ran on, as it says of itself, and the driver's way of copying.
#pragma once

#include "kernels/cuda/gpu.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gnnplan::bench {

struct Card {
    std::string name;
    std::string capability;  // "9.0"
    std::string driver;      // its number, where the system tells it, and the CUDA that it is for
    std::string libraries;   // CUDA's runtime, cuBLAS and cuSPARSE
    std::int64_t memory_bytes = 0;
    std::int64_t l2_bytes = 0;
    double peak = 0;  // fp32 operations per second: multiprocessors * units * 2 (an FMA) * highest clock
};

// Throws Error{unavailable} where CUDA does not answer.
Card card(const kernels::cuda::Gpu& gpu);

// The free bytes of the GPU's memory, once this process has a context of it. Throws Error{unavailable}.
std::int64_t free_bytes(const kernels::cuda::Gpu& gpu);

// Queued on this thread's device: a copy by the driver within the device's memory.
void copy_memory(const std::byte* from, std::byte* to, std::size_t bytes);

}  // namespace gnnplan::bench
