#include "runtime/comm/staged.hpp"

#include "runtime/comm/messages.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace gnnplan::comm {
namespace {

// Rows as kernels see them.
template <class Float, class Byte>
kernels::Dense<Float> floats_of(const Rows<Byte>& rows) {
    const auto count = [](std::size_t bytes) {
        ensure(bytes % sizeof(float) == 0, "rows that a device copies are of whole floats");
        return static_cast<std::int64_t>(bytes / sizeof(float));
    };
    return {reinterpret_cast<Float*>(rows.data), static_cast<std::int64_t>(rows.rows), count(rows.row_bytes),
            count(rows.stride_bytes)};
}

void copy_on(kernels::Device& device, const ConstRows& from, const MutableRows& to) {
    if (to.bytes() == 0) return;
    ensure(from.row_bytes == to.row_bytes, "rows that a device copies have the same length");
    device.table().copy(floats_of<const float>(from), floats_of<float>(to));
}

// Messages to and from others, with a copy of each in the host's memory.
class StagedExchange final : public PendingExchange {
public:
    StagedExchange(Communicator& hosts, kernels::Device& device, std::span<const Send> sends,
                   std::span<const Receive> receives)
        : device_(device) {
        std::vector<Send> host_sends;
        std::vector<Receive> host_receives;
        std::vector<std::pair<const std::byte*, std::span<std::byte>>> leaving;
        for (const auto& [peer, bytes] : sends) {
            if (peer == hosts.rank()) continue;
            leaving.emplace_back(bytes.data(), copy_of(bytes.size()));
            host_sends.push_back({peer, leaving.back().second});
        }
        for (const auto& [peer, bytes] : receives) {
            if (peer == hosts.rank()) continue;
            host_receives.push_back({peer, copy_of(bytes.size())});
            arriving_.emplace_back(host_receives.back().bytes, bytes.data());
        }
        // All memory is there by now: once a download is queued, nothing but finish() may end this.
        for (const auto& [from, copy] : leaving) device.download(from, copy);
        if (!leaving.empty()) device.finish();
        pending_ = hosts.start_exchange(host_sends, host_receives);
    }
    void progress() override { pending_->progress(); }
    void wait() override {
        pending_->wait();
        for (const auto& [copy, place] : arriving_) kernels::upload(device_, copy, place);
    }

private:
    std::span<std::byte> copy_of(std::size_t bytes) { return copies_.emplace_back(bytes); }

    kernels::Device& device_;
    std::vector<std::vector<std::byte>> copies_;
    std::vector<std::pair<std::span<const std::byte>, std::byte*>> arriving_;
    std::unique_ptr<PendingExchange> pending_;
};

// The rows of a block that has gaps, as they lie in its staging.
template <class Block>
MutableRows packed(const Block& block) {
    return {block.staging.data(), block.rows.rows, block.rows.row_bytes, block.rows.row_bytes};
}

// Copies a rank's message to itself, whose rows may have another length where they go: those with gaps are packed first
// then.
void copy_own(kernels::Device& device, std::span<const SendBlock> sends, const OwnMessage& own, int rank) {
    ConstRows from = own.from;
    if (from.row_bytes != own.to.row_bytes && from.bytes() > 0) {
        const auto block = std::ranges::find(sends, rank, &SendBlock::peer);
        from.data = message_of<const std::byte>(*block).data();
        if (!from.contiguous()) copy_on(device, own.from, packed(*block));
        from = {from.data, own.to.rows, own.to.row_bytes, own.to.row_bytes};
    }
    copy_on(device, from, own.to);
}

}  // namespace

std::unique_ptr<PendingExchange> StagedCommunicator::start_exchange(std::span<const Send> sends,
                                                                    std::span<const Receive> receives) {
    check_messages(sends, receives, size());
    const OwnMessage own = own_message(sends, receives, rank());
    copy_on(device_, own.from, own.to);
    return std::make_unique<StagedExchange>(inner(), device_, sends, receives);
}

void StagedCommunicator::exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) {
    check_messages(sends, receives, size());
    copy_own(device_, sends, own_message(sends, receives, rank()), rank());
    std::vector<Send> packed_sends;
    std::vector<Receive> packed_receives;
    for (const SendBlock& block : sends) {
        if (block.peer == rank()) continue;
        packed_sends.push_back({block.peer, message_of<const std::byte>(block)});
        if (!block.rows.contiguous()) copy_on(device_, block.rows, packed(block));
    }
    for (const ReceiveBlock& block : receives) {
        if (block.peer != rank()) packed_receives.push_back({block.peer, message_of<std::byte>(block)});
    }
    StagedExchange(inner(), device_, packed_sends, packed_receives).wait();
    for (const ReceiveBlock& block : receives) {
        if (block.peer == rank() || block.rows.contiguous()) continue;
        const MutableRows rows = packed(block);
        copy_on(device_, {rows.data, rows.rows, rows.row_bytes, rows.stride_bytes}, block.rows);
    }
}

void StagedCommunicator::broadcast(int root, std::span<std::byte> bytes) {
    std::vector<std::byte> copy(bytes.size());
    if (rank() == root) {
        device_.download(bytes.data(), copy);
        device_.finish();
    }
    inner().broadcast(root, copy);
    if (rank() != root) kernels::upload(device_, copy, bytes.data());
}

template <class T>
void StagedCommunicator::sum(std::span<T> values) {
    if (size() == 1) return;
    std::vector<T> copy(values.size());
    device_.download(reinterpret_cast<const std::byte*>(values.data()), std::as_writable_bytes(std::span(copy)));
    device_.finish();
    inner().all_reduce(std::span(copy));
    kernels::upload(device_, std::as_bytes(std::span(copy)), reinterpret_cast<std::byte*>(values.data()));
}

void StagedCommunicator::all_reduce(std::span<float> values) { sum(values); }
void StagedCommunicator::all_reduce(std::span<double> values) { sum(values); }
void StagedCommunicator::all_reduce(std::span<kernels::SquareSum> values) { sum(values); }

std::unique_ptr<Communicator> StagedCommunicator::split(int colour, int key) {
    return std::make_unique<StagedCommunicator>(inner().split(colour, key), device_);
}

std::unique_ptr<Communicator> through_hosts(Communicator& hosts, kernels::Device& device) {
    return std::make_unique<StagedCommunicator>(hosts, device);
}

}  // namespace gnnplan::comm
