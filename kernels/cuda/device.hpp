// A GPU as the device of one rank.
#pragma once

#include "kernels/cuda/gpu.hpp"
#include "kernels/device.hpp"

#include <memory>

namespace gnnplan::kernels::cuda {

// One at a time for a thread, which is the only one to use it.
std::unique_ptr<Device> cuda_device(const Gpu& gpu);

}  // namespace gnnplan::kernels::cuda
