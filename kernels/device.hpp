// Where a rank computes: the memory that its tensors lie in, and the queue in which its kernels run, one after the
// other. The processor is a device whose memory is the host's and whose queue is always empty.
#pragma once

#include "kernels/links.hpp"
#include "kernels/table.hpp"

#include <gnnplan/base/blocking.hpp>
#include <gnnplan/base/product_kernel.hpp>
#include <gnnplan/base/tensor_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnnplan::kernels {

// How much of a device's own memory nobody holds, and of which device: no two have the same name.
struct FreeMemory {
    std::string device;
    std::int64_t bytes = 0;
    std::int64_t held_bytes = 0;   // of its TensorMemory::workspace_bytes, by the rank that asks; alike on all ranks
    std::int64_t total_bytes = 0;  // that the device has
};

// One for each rank, used by the rank's thread alone. Errors of queued work come out of finish().
class Device {
public:
    virtual ~Device() = default;

    // Its functions take addresses of the device's memory, queue their work and return.
    virtual const Table& table() const = 0;

    virtual TensorMemory memory() const = 0;

    // As its maker calls it, with the versions of the driver and of the toolkit of the build.
    virtual std::string name() const { return table().name; }

    // How its products cut dense operands into slices.
    virtual Blocking blocking() const { return {}; }

    // Memory that no program, this one included, holds now. Empty where it is unknown.
    virtual std::optional<FreeMemory> free_memory() const { return std::nullopt; }

    // The device's own memory: kernels read and write it, the host does not. Not initialised, aligned to 64 bytes at
    // least. Throws OutOfMemory, a std::bad_alloc.
    virtual std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) = 0;

    // Memory with these bytes of the host's. A device with memory of its own copies them, and lets `owner` go;
    // otherwise they stay where they are.
    virtual std::unique_ptr<DeviceMemory> take(std::shared_ptr<const void> owner, std::span<const std::byte> bytes) = 0;

    // Host memory for what is to be at `to`: `bytes` bytes, or as many as the device has room for at a time. send()
    // queues the first of them.
    virtual std::span<std::byte> stage(std::byte* to, std::size_t bytes) = 0;
    virtual void send(std::size_t bytes) = 0;

    // Prepares faster products with `a`, which lies in the device's memory and stays there for as long as the result;
    // it goes into Csr::prepared. Takes of TensorMemory::workspace_bytes. Null where there is nothing to make, or no
    // room. Waits for the queue.
    virtual std::unique_ptr<Prepared> prepare(const Csr&) { return nullptr; }

    // Takes one of its kernels for products of a prepared matrix with operands of so many columns: the fastest with
    // these operands, or untimed the one that is `wanted`, or the first that can where that one cannot. `c` is
    // overwritten. Returns the kernels, the one that was taken first; none where there is no choice. Waits for the
    // queue.
    virtual std::vector<ProductKernel> choose(const Csr&, ConstMatrix /*b*/, Matrix /*c*/, PanelRoom,
                                              std::string_view /*wanted*/) {
        return {};
    }

    // Queued: what is at `from` by then is at `to` when finish() has returned.
    virtual void download(const std::byte* from, std::span<std::byte> to) = 0;

    // Queued: the values are at the address returned, the same one for every pass.
    virtual const PassValues* begin_pass(const PassValues& values) = 0;

    // Moment number `moment` is when what was queued so far is done; where that is when calls return, it is `now`, the
    // host's time. Whether it has come. After finish(), how many seconds lay between two moments.
    virtual void mark(std::size_t moment, double now) = 0;
    virtual bool has_come(std::size_t /*moment*/) { return true; }
    virtual double seconds(std::size_t from, std::size_t to) const = 0;

    // Returns when all that was queued is done, but for transfers that nothing waits for yet. Throws
    // ErrorCode::unavailable if any of it failed.
    virtual void finish() = 0;
    // Calls `look` every now and then while finish() has to wait, for as long as the result lives. Where it throws,
    // finish() does.
    using Look = std::function<void()>;
    std::shared_ptr<const Look> look_while_waiting(Look look);

    // Null where nothing moves beside kernels; the device keeps it.
    virtual TransferQueue* transfers() { return nullptr; }
    // Why connect() would fail on this device, as far as one device can tell; empty where nothing speaks against it.
    virtual std::string cannot_connect() const { return "the backend has no links between devices"; }
    // Collective: links between the devices of all ranks, which the device outlives. Throws Error{unavailable}.
    virtual std::shared_ptr<Links> connect(const Peers& peers);
    // After an error of this rank: gives up what is queued and waits for other ranks.
    virtual void give_up() {}

protected:
    void look() const;

private:
    mutable std::vector<std::weak_ptr<const Look>> looks_;
};

// The processor, with one of its tables.
std::unique_ptr<Device> host_device(const Table& table);

// Makes the device of a rank; called by the rank's thread.
using OpenDevice = std::function<std::unique_ptr<Device>()>;

// Queues a copy of `from`, which may be reused on return.
inline void upload(Device& device, std::span<const std::byte> from, std::byte* to) {
    while (!from.empty()) {
        const std::span<std::byte> room = device.stage(to, from.size());
        std::ranges::copy(from.first(room.size()), room.begin());
        device.send(room.size());
        from = from.subspan(room.size());
        to += room.size();
    }
}

// The elements of a container as memory of the device.
template <class Container>
std::unique_ptr<DeviceMemory> take(Device& device, Container elements) {
    const auto owner = std::make_shared<const Container>(std::move(elements));
    return device.take(owner, std::as_bytes(std::span(owner->data(), owner->size())));
}

}  // namespace gnnplan::kernels
