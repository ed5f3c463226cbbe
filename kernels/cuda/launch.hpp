// Starts kernels on the queue of the calling thread's device.
#pragma once

#include "kernels/cuda/queue.hpp"

#include <cuda_runtime.h>

#include <cstdint>

namespace gnnplan::kernels::cuda {

inline constexpr int block_threads = 256;

// `blocks` blocks of block_threads threads; nothing where there are none. Its failure is named `what`.
template <class... Parameters, class... Arguments>
void launch(const char* what, std::int64_t blocks, void (*kernel)(Parameters...), Arguments... arguments) {
    if (blocks == 0) return;
    Queue& on = queue();
    cudaLaunchConfig_t config = {};
    config.gridDim.x = static_cast<unsigned>(blocks);
    config.blockDim.x = block_threads;
    config.stream = on.stream;
    on.note(cudaLaunchKernelEx(&config, kernel, arguments...), what);
}

constexpr std::int64_t ceil_divide(std::int64_t x, std::int64_t by) { return (x + by - 1) / by; }

// Blocks for `threads` threads, but no more than keep the device busy: kernels whose threads go on until all is done.
inline std::int64_t blocks_for(std::int64_t threads) {
    const std::int64_t busy = std::int64_t{queue().processors} * 32;
    const std::int64_t blocks = ceil_divide(threads, block_threads);
    return blocks < busy ? blocks : busy;
}

}  // namespace gnnplan::kernels::cuda
