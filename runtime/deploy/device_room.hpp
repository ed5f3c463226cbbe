// How much memory the devices of a run have left for it.
#pragma once

#include "kernels/device.hpp"
#include "runtime/comm/communicator.hpp"

#include <cstdint>
#include <optional>

namespace gnnplan::deploy {

// Says what the device offers that has least for each of the ranks that compute on it.
struct DeviceRoom {
    std::int64_t bytes_per_rank = 0;  // with what each of them has of its workspace already
    int ranks = 1;                    // that share the device
};

// The same on every rank; empty where tensors are in the host's memory, or no device says how much is free. Collective,
// when the devices of all ranks are open. Other programs may use up some of the free memory later.
std::optional<DeviceRoom> device_room(comm::Communicator& comm, const kernels::Device& device);

}  // namespace gnnplan::deploy
