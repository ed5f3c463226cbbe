#include "through_device.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gnnplan::comm {
namespace {

using Word = std::uint32_t;

// Bytes of the host on the device, where rows lie one after another as they do here.
class Copies {
public:
    explicit Copies(kernels::Device& device) : device_(device) {}

    std::span<std::byte> room(std::size_t bytes) {
        memory_.push_back(device_.allocate(bytes * sizeof(Word)));
        return {memory_.back()->data(), bytes * sizeof(Word)};
    }
    std::span<std::byte> of(std::span<const std::byte> bytes) {
        std::vector<Word> words(bytes.size());
        std::ranges::transform(bytes, words.begin(), [](std::byte byte) { return static_cast<Word>(byte); });
        const std::span<std::byte> copy = room(bytes.size());
        kernels::upload(device_, std::as_bytes(std::span(words)), copy.data());
        return copy;
    }
    template <class Byte>
    Rows<Byte> rows_of(const Rows<Byte>& rows) {
        const std::size_t extent = rows.rows == 0 ? 0 : (rows.rows - 1) * rows.stride_bytes + rows.row_bytes;
        return {of({rows.data, extent}).data(), rows.rows, rows.row_bytes * sizeof(Word),
                rows.stride_bytes * sizeof(Word)};
    }

    // The bytes at `from` are at `to` after fetch().
    void fetch_later(const std::byte* from, std::span<std::byte> to) { wanted_.push_back({from, to, {}}); }
    void fetch_later(const MutableRows& from, const MutableRows& to) {
        for (std::size_t i = 0; i < to.rows; ++i)
            fetch_later(from.data + i * from.stride_bytes, {to.data + i * to.stride_bytes, to.row_bytes});
    }
    void fetch() {
        for (Wanted& wanted : wanted_) {
            wanted.words.resize(wanted.to.size());
            device_.download(wanted.from, std::as_writable_bytes(std::span(wanted.words)));
        }
        device_.finish();
        for (const auto& [from, to, words] : wanted_)
            std::ranges::transform(words, to.begin(), [](Word word) { return static_cast<std::byte>(word); });
        wanted_.clear();
    }

private:
    struct Wanted {
        const std::byte* from;
        std::span<std::byte> to;
        std::vector<Word> words;
    };

    kernels::Device& device_;
    std::vector<std::unique_ptr<kernels::DeviceMemory>> memory_;
    std::vector<Wanted> wanted_;
};

class Exchange final : public PendingExchange {
public:
    Exchange(Communicator& inner, kernels::Device& device, std::span<const Send> sends,
             std::span<const Receive> receives)
        : copies_(device) {
        std::vector<Send> device_sends;
        std::vector<Receive> device_receives;
        for (const auto& [peer, bytes] : sends) device_sends.push_back({peer, copies_.of(bytes)});
        for (const auto& [peer, bytes] : receives) {
            device_receives.push_back({peer, copies_.room(bytes.size())});
            copies_.fetch_later(device_receives.back().bytes.data(), bytes);
        }
        pending_ = inner.start_exchange(device_sends, device_receives);
    }
    void progress() override { pending_->progress(); }
    void wait() override {
        pending_->wait();
        copies_.fetch();
    }

private:
    Copies copies_;
    std::unique_ptr<PendingExchange> pending_;
};

class ThroughDevice final : public ForwardingCommunicator {
public:
    ThroughDevice(Communicator& inner, kernels::Device& device) : ForwardingCommunicator(inner), device_(device) {}
    ThroughDevice(std::unique_ptr<Communicator> inner, kernels::Device& device)
        : ForwardingCommunicator(std::move(inner)), device_(device) {}

    bool needs_progress() const override { return inner().needs_progress(); }
    std::unique_ptr<PendingExchange> start_exchange(std::span<const Send> sends,
                                                    std::span<const Receive> receives) override {
        return std::make_unique<Exchange>(inner(), device_, sends, receives);
    }
    void exchange_blocks(std::span<const SendBlock> sends, std::span<const ReceiveBlock> receives) override {
        Copies copies(device_);
        std::vector<SendBlock> device_sends;
        std::vector<ReceiveBlock> device_receives;
        for (const auto& [peer, rows, staging] : sends)
            device_sends.push_back({peer, copies.rows_of(rows), copies.room(staging.size())});
        for (const auto& [peer, rows, staging] : receives) {
            device_receives.push_back({peer, copies.rows_of(rows), copies.room(staging.size())});
            copies.fetch_later(device_receives.back().rows, rows);
        }
        inner().exchange_blocks(device_sends, device_receives);
        copies.fetch();
    }
    void broadcast(int root, std::span<std::byte> bytes) override {
        Copies copies(device_);
        const std::span<std::byte> copy = copies.of(bytes);
        inner().broadcast(root, copy);
        copies.fetch_later(copy.data(), bytes);
        copies.fetch();
    }
    void all_reduce(std::span<float> values) override { sum(values); }
    void all_reduce(std::span<double> values) override { sum(values); }
    void all_reduce(std::span<kernels::SquareSum> values) override { sum(values); }
    std::unique_ptr<Communicator> split(int colour, int key) override {
        return std::make_unique<ThroughDevice>(inner().split(colour, key), device_);
    }

private:
    template <class T>
    void sum(std::span<T> values) {
        const std::span<std::byte> bytes = std::as_writable_bytes(values);
        const auto memory = device_.allocate(bytes.size());
        kernels::upload(device_, bytes, memory->data());
        inner().all_reduce(std::span(reinterpret_cast<T*>(memory->data()), values.size()));
        device_.download(memory->data(), bytes);
        device_.finish();
    }

    kernels::Device& device_;
};

}  // namespace

std::unique_ptr<Communicator> through_device(Communicator& inner, kernels::Device& device) {
    return std::make_unique<ThroughDevice>(inner, device);
}

}  // namespace gnnplan::comm
