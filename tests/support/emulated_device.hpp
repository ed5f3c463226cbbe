// A device without one: addresses of its memory that the host cannot touch, and queues that run late.
#pragma once

#include "kernels/device.hpp"
#include "runtime/comm/communicator.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace gnnplan::testing {

// The rules for the order in which computations and transfers of a device may run.
enum class Ordering : std::uint8_t {
    all,                       // nothing is missing
    transfer_after_compute,    // an exchange begins after what was computed before it
    reuse_after_compute,       // it also does so where it only reuses a buffer that a computation reads
    compute_after_transfer,    // what is computed after wait() comes after the exchange
    overwrite_after_transfer,  // it also does so where the rank only sent, and may overwrite what it sent
    read_after_peer,           // a copy from another device's memory comes after what that device was to compute before
    overwrite_after_peer,      // what was sent is overwritten after another device's copy of it
};

struct Emulation {
    unsigned order = 1;  // of those that are allowed
    Ordering missing = Ordering::all;
    std::optional<kernels::FreeMemory> free{};  // what it says of its memory
};

// Bytes that it says its kernels use.
inline constexpr std::int64_t emulated_workspace = 4096;

// Whoever reads or writes its memory other than through its kernels is killed; what is queued happens when somebody
// waits for it, computations and transfers in any order that nothing forbids, so that what is read too early is old.
// Computes with the reference kernels. One at a time for a thread.
std::unique_ptr<kernels::Device> emulated_device(const Emulation& emulation = {});

// Links between emulated devices: what they move goes through the communicator of their hosts when it is due.
std::unique_ptr<comm::Communicator> on_emulated_device(comm::Communicator& comm, kernels::Device& device);

}  // namespace gnnplan::testing
