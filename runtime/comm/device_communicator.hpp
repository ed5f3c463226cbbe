// Ranks whose tensors lie in devices' own memories: what is common to all ways that messages take between them.
#pragma once

#include "kernels/device.hpp"
#include "runtime/comm/forwarding.hpp"
#include "runtime/comm/ordered_exchange.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::comm {

// Data calls take memory of the device and queue their work; what is queued after wait() finds what has come. A rank's
// message to itself stays on the device, and rows with gaps are packed and unpacked there; these are of whole floats.
// The control channel is that of the hosts; it waits for the device first.
class DeviceCommunicator : public ForwardingCommunicator {
public:
    bool needs_progress() const override { return false; }
    std::unique_ptr<PendingExchange> start_exchange(std::span<const Send> sends,
                                                    std::span<const Receive> receives) final;
    void exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) final;
    void broadcast(int root, std::span<std::byte> bytes) final;
    void all_reduce(std::span<float> values) final;
    void all_reduce(std::span<double> values) final;
    void all_reduce(std::span<kernels::SquareSum> values) final;
    void barrier() final;
    std::vector<std::string> control_all_gather(const std::string& text) final;

protected:
    // Messages on their way, between different ranks, none of them empty.
    class Moving {
    public:
        virtual ~Moving() = default;
        virtual void finish() = 0;  // what is queued afterwards finds what has come, and may write to what was sent
    };

    // All outlive it.
    DeviceCommunicator(Communicator& hosts, kernels::Device& device) : ForwardingCommunicator(hosts), device_(device) {}
    DeviceCommunicator(std::unique_ptr<Communicator> hosts, kernels::Device& device)
        : ForwardingCommunicator(std::move(hosts)), device_(device) {}

    kernels::Device& device() { return device_; }
    static std::vector<int> all_ranks(int size);  // 0 .. size - 1

    virtual std::unique_ptr<Moving> move(std::vector<Send> sends, std::vector<Receive> receives) = 0;

    // Sums over all ranks. Floats are added up on the devices, by a ring of exchanges; doubles by the hosts.
    virtual void sum(std::span<float> values) { add_up(device_.table().add, values); }
    virtual void sum(std::span<double> values) { sum_on_hosts(values); }
    virtual void sum(std::span<kernels::SquareSum> values);

    template <class T>
    void sum_on_hosts(std::span<T> values);

private:
    class Exchange;
    using Add = decltype(kernels::Table::add);
    void add_up(Add add, std::span<float> values);

    kernels::Device& device_;
    ExchangesUnderWay under_way_;
    ExchangesUnderWay* order_ = &under_way_;
    std::unique_ptr<kernels::DeviceMemory> terms_;  // of a sum
};

template <class T>
void DeviceCommunicator::sum_on_hosts(std::span<T> values) {
    std::vector<T> copy(values.size());
    device_.download(reinterpret_cast<const std::byte*>(values.data()), std::as_writable_bytes(std::span(copy)));
    device_.finish();
    inner().all_reduce(std::span(copy));
    kernels::upload(device_, std::as_bytes(std::span(copy)), reinterpret_cast<std::byte*>(values.data()));
}

}  // namespace gnnplan::comm
