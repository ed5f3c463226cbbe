// Runs kernels of a GPU on the processor: the threads of a block are fibres, which take turns in a random order
// wherever a kernel waits, and blocks run one after the other in a random order. A kernel does not get what it may not
// rely on: a thread that reads what another writes finds it there by luck unless the two met at a barrier in between.
//
// A kernel's own names for all this are in tests/support/host_cuda/cuda_runtime.h.
#pragma once

#include <cstdint>
#include <functional>

namespace gnnplan::testing::fibres {

struct Extent {
    unsigned x = 1, y = 1, z = 1;
    std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

// Calls thread() for each thread of each block. A kernel whose threads wait for each other in vain ends the process.
void run_grid(Extent grid, Extent block, const std::function<void()>& thread);

// The orders that this host thread's grids run in from now on.
void seed_order(std::uint32_t seed);

// The rest is for the threads of a block.

// Returns when every thread of the block has called it.
void wait_for_block();

enum class Meeting { barrier, shuffle, ballot };

// Returns when every lane of the warp that `lanes` names has called it for the same kind of meeting. A shuffle gives
// each the value that lane `source` brought, a ballot the lanes whose value is not 0.
std::uint64_t meet(Meeting kind, std::uint32_t lanes, std::uint64_t value, unsigned source);

// The number of the calling thread in its warp.
unsigned lane();

}  // namespace gnnplan::testing::fibres

// Where the running thread is, as CUDA calls it.
inline constinit thread_local gnnplan::testing::fibres::Extent gridDim, blockDim, blockIdx, threadIdx;
