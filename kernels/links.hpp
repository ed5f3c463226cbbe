// Links move bytes between the memories of devices, without a copy in the memory of their hosts.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::kernels {

struct Send {
    int peer = 0;
    std::span<const std::byte> bytes;
};

struct Receive {
    int peer = 0;
    std::span<std::byte> bytes;
};

// The ranks of a run as their hosts know them.
struct Peers {
    int rank = 0;
    int size = 1;
    // Every rank's text, in rank order, on every rank. Collective.
    std::function<std::vector<std::string>(const std::string& text)> all_gather;
};

// Connects the devices of the ranks of a run, one device each. All calls queue transfers and return, in the same order
// on every rank.
class Links {
public:
    virtual ~Links() = default;

    // The library that moves the bytes, with its version.
    virtual std::string name() const = 0;

    // At most one message for each ordered pair of ranks, none of them empty or to oneself; lengths agree between
    // sender and receiver. Ranks without messages may stay away.
    virtual void exchange(std::span<const Send> sends, std::span<const Receive> receives) = 0;

    // In-place sums over all ranks, the same bits on each of them.
    virtual void sum(std::span<float> values) = 0;
    virtual void sum(std::span<double> values) = 0;
};

// A point in one of a device's queues: it has been passed when all that was queued before is done.
class Fence {
public:
    virtual ~Fence() = default;
};

// Memory, freed with the object.
class DeviceMemory {
public:
    virtual ~DeviceMemory() = default;
    virtual std::byte* data() const = 0;
    virtual std::size_t size() const = 0;
};

// A queue that moves data while kernels run in the device's other one, and the order between the two.
class TransferQueue {
public:
    virtual ~TransferQueue() = default;

    // The ends of the queue of kernels and of this one, as they are now.
    virtual std::shared_ptr<const Fence> computed() = 0;
    virtual std::shared_ptr<const Fence> transferred() = 0;

    // Kernels, or transfers, that are queued from now on begin when the fence has been passed. It may be of any device
    // of this process that has such a queue.
    virtual void compute_after(const Fence& fence) = 0;
    virtual void transfer_after(const Fence& fence) = 0;
    // Returns when the fence, of this device, has been passed. Throws ErrorCode::unavailable if what was queued before
    // it failed.
    virtual void wait_for(const Fence& fence) = 0;

    // Memory of the host that the device reads and writes by itself. Throws OutOfMemory.
    virtual std::unique_ptr<DeviceMemory> host_memory(std::size_t bytes) = 0;

    // Lets copies from memory of the devices of so many ranks go without the host where the two can.
    virtual void reach_others(int /*ranks*/) {}
    // Queues a transfer between memory of this device and memory of another such device, or of host_memory().
    virtual void copy(std::span<const std::byte> from, std::byte* to) = 0;
};

}  // namespace gnnplan::kernels
