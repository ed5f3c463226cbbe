// A device whose kernels are those of kernels/cuda on fibres, and whose memory is the host's.
#pragma once

#include "kernels/device.hpp"

#include <memory>

namespace gnnplan::testing {

// finish() throws what a kernel could not be started for.
std::unique_ptr<kernels::Device> fibre_device();

}  // namespace gnnplan::testing
