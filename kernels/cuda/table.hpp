// The kernels of a CUDA device: each queues its work on the queue of the calling thread's device, which is in
// kernels/cuda/queue.hpp, and returns.
#pragma once

#include "kernels/table.hpp"

namespace gnnplan::kernels::cuda {

const Table& cuda_table();

}  // namespace gnnplan::kernels::cuda
