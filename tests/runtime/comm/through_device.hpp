// Tests of communicators have their data in the host's memory: this moves it through the memory of a device.
#pragma once

#include "runtime/comm/forwarding.hpp"

#include "kernels/device.hpp"

#include <memory>

namespace gnnplan::comm {

// Calls `inner`, which moves data between the memories of devices, with copies of what it is called with on `device`,
// and fetches what has come when the call is over. Both outlive it. A byte is four bytes there, as devices copy whole
// floats.
std::unique_ptr<Communicator> through_device(Communicator& inner, kernels::Device& device);

}  // namespace gnnplan::comm
