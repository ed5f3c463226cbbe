// How the ranks of a run exchange what lies in the memories of their devices.
#pragma once

#include "kernels/device.hpp"
#include "runtime/comm/communicator.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan::comm {

// By the names that users give them:
//   nccl    GPUs send to each other by NCCL: a GPU for each rank, on one machine or several
//   peers   each copies from the others' memory: ranks that are threads of one process
//   staged  through the memory of their hosts: always
//   auto    the first of these that is possible
const std::vector<std::string>& device_exchanges();

struct DeviceExchange {
    std::unique_ptr<Communicator> communicator;
    std::string name;    // "NCCL 2.28.9", "peers" or "staged"
    std::string reason;  // why none of the ways before it in this list was taken; empty where that was not asked
};

// Returns the bytes of host memory that each of `ranks` ranks needs for messages, whatever their sizes. Only "staged"
// needs any.
std::int64_t message_bytes(std::string_view exchange, int ranks);

// Collective. `hosts` and `device` outlive the result. Throws AgreedError{unavailable} where the way that is
// wanted is not possible, Error{unavailable} where it fails.
DeviceExchange open_device_exchange(std::string_view wanted, Communicator& hosts, kernels::Device& device);

}  // namespace gnnplan::comm
