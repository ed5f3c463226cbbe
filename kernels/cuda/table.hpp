// The kernels of a CUDA device: each queues its work on the queue of the calling thread's device, which is in
// kernels/cuda/queue.hpp, and returns.
#pragma once

#include "kernels/table.hpp"

namespace gnnplan::kernels::cuda {

const Table& cuda_table();

// The oldest GPU that they are compiled for: 75 is compute capability 7.5.
int oldest_gpu();

}  // namespace gnnplan::kernels::cuda
