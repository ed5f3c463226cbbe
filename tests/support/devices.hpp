// The devices that tests run on.
#pragma once

#include "kernels/device.hpp"
#include "runtime/comm/communicator.hpp"

#include <gnnplan/ir/machine.hpp>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace gnnplan::testing {

struct DeviceKind {
    std::string name;
    kernels::OpenDevice open;
    // It takes every `every`-th of the shapes of tests over many.
    int every = 1;
    comm::OpenCommunicator communicator{};  // between such devices; empty where their memory is the hosts'
};
inline void PrintTo(const DeviceKind& kind, std::ostream* out) { *out << kind.name; }

// Those of tests of kernels: the oracle itself, the processor, the CUDA kernels on fibres, a memory that the host
// cannot touch, and a GPU where GNNPLAN_TEST_DEVICE is "cuda". The first does not stand for the others: it shows that
// operands get to a device and back.
const std::vector<DeviceKind>& devices();

// The device on which GNNPLAN_TEST_DEVICE asks tests of steps and of whole plans to run instead of the processor:
//   emulated  tests/support/emulated_device.hpp
//   peers     the same, whose ranks are threads and copy from each other's devices
//   staged    the same, whose ranks exchange through their hosts, in pieces of some hundred bytes
//   cuda      the device of gnnrun --backend cuda; without one, the program says "skipped: why" and exits with 77.
//             GNNPLAN_TEST_EXCHANGE says how GPUs exchange: of comm::device_exchanges(), staged by default
std::optional<DeviceKind> wanted_device();

// Ranks that exchange through so little room of their hosts that messages travel in several rounds.
std::unique_ptr<comm::Communicator> through_little_room(comm::Communicator& hosts, kernels::Device& device);

// The blocking of schedules that run on it: of a GPU whose cache is so small that tests meet slices of it.
Blocking wanted_blocking();
// Makes a machine of which such a device is one rank.
void describe_wanted_device(Machine& machine);

}  // namespace gnnplan::testing
