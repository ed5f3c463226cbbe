// A device without one: addresses of its memory that the host cannot touch, and a queue that runs late.
#pragma once

#include "kernels/device.hpp"
#include "runtime/comm/communicator.hpp"

#include <memory>

namespace gnnplan::testing {

// Whoever reads or writes its memory other than through its kernels is killed; what is queued happens when somebody
// waits for it, so that what is read too early is old. Computes with the reference kernels. One at a time for a thread.
std::unique_ptr<kernels::Device> emulated_device();

// Moves data between the memories of emulated devices: each call after all that was queued before it.
std::unique_ptr<comm::Communicator> on_emulated_device(comm::Communicator& comm, kernels::Device& device);

// Whether GNNPLAN_TEST_DEVICE=emulated asks tests to run on it.
bool emulates_devices();

}  // namespace gnnplan::testing
