#include "runtime/comm/device_communicator.hpp"

#include "runtime/comm/messages.hpp"
#include "runtime/comm/reduce_scatter.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
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

// Those to and from others.
template <class Message>
std::vector<Message> between_ranks(std::span<const Message> messages, int rank) {
    std::vector<Message> between;
    for (const Message& message : messages)
        if (message.peer != rank && !message.bytes.empty()) between.push_back(message);
    return between;
}

}  // namespace

class DeviceCommunicator::Exchange final : public OrderedExchange {
public:
    Exchange(ExchangesUnderWay& under_way, std::unique_ptr<Moving> moving)
        : OrderedExchange(under_way), moving_(std::move(moving)) {}
    void progress() override {}

private:
    void finish() override { moving_->finish(); }

    std::unique_ptr<Moving> moving_;
};

std::unique_ptr<PendingExchange> DeviceCommunicator::start_exchange(std::span<const Send> sends,
                                                                    std::span<const Receive> receives) {
    check_messages(sends, receives, size());
    const OwnMessage own = own_message(sends, receives, rank());
    copy_on(device_, own.from, own.to);
    return std::make_unique<Exchange>(*order_, move(between_ranks(sends, rank()), between_ranks(receives, rank())));
}

void DeviceCommunicator::exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) {
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
    exchange(packed_sends, packed_receives);
    for (const ReceiveBlock& block : receives) {
        if (block.peer == rank() || block.rows.contiguous()) continue;
        const MutableRows rows = packed(block);
        copy_on(device_, {rows.data, rows.rows, rows.row_bytes, rows.stride_bytes}, block.rows);
    }
}

void DeviceCommunicator::broadcast(int root, std::span<std::byte> bytes) {
    check_rank(root, size());
    std::vector<Send> sends;
    std::vector<Receive> receives;
    if (bytes.empty()) return;
    if (rank() != root) receives.push_back({root, bytes});
    for (int peer = 0; rank() == root && peer < size(); ++peer)
        if (peer != root) sends.push_back({peer, bytes});
    move(std::move(sends), std::move(receives))->finish();
}

void DeviceCommunicator::all_reduce(std::span<float> values) {
    if (size() > 1) sum(values);
}
void DeviceCommunicator::all_reduce(std::span<double> values) {
    if (size() > 1) sum(values);
}
void DeviceCommunicator::all_reduce(std::span<kernels::SquareSum> values) {
    if (size() > 1) sum(values);
}

void DeviceCommunicator::sum(std::span<kernels::SquareSum> values) {
    add_up(device_.table().add_squares, {reinterpret_cast<float*>(values.data()), values.size()});
}

// Other exchanges may be under way meanwhile.
void DeviceCommunicator::add_up(Add add, std::span<float> values) {
    const std::size_t bytes =
        sizeof(float) * ((values.size() + static_cast<std::size_t>(size()) - 1) / static_cast<std::size_t>(size()));
    if (terms_ == nullptr || terms_->size() < bytes) {
        device_.finish();  // it may still be in use
        terms_ = device_.allocate(bytes);
    }
    ExchangesUnderWay none;
    struct Aside {
        Aside(ExchangesUnderWay*& order, ExchangesUnderWay& own) : place(order), before(std::exchange(order, &own)) {}
        Aside(const Aside&) = delete;
        Aside& operator=(const Aside&) = delete;
        ~Aside() { place = before; }
        ExchangesUnderWay*& place;
        ExchangesUnderWay* before;
    } const aside(order_, none);
    comm::all_reduce(*this, add, all_ranks(size()), values,
                     {reinterpret_cast<float*>(terms_->data()), bytes / sizeof(float)});
}

std::vector<int> DeviceCommunicator::all_ranks(int size) {
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

void DeviceCommunicator::barrier() {
    device_.finish();
    ForwardingCommunicator::barrier();
}

std::vector<std::string> DeviceCommunicator::control_all_gather(const std::string& text) {
    device_.finish();
    return ForwardingCommunicator::control_all_gather(text);
}

}  // namespace gnnplan::comm
