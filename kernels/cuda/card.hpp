// What a measurement says of the GPU that it ran on, and the GPU's own way of copying: for benchmarks, no part of the
// module.
#pragma once

#include "kernels/cuda/gpu.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gnnplan::kernels::cuda {

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
Card card(const Gpu& gpu);

// What is free of the GPU's memory, once this process has a context of it. Throws Error{unavailable}.
std::int64_t free_bytes(const Gpu& gpu);

// Queued on this thread's device: a copy by the driver within the device's memory.
void copy_memory(const std::byte* from, std::byte* to, std::size_t bytes);

}  // namespace gnnplan::kernels::cuda
