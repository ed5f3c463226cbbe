#include "kernels/device.hpp"

#include "kernels/large_buffer.hpp"

#include <gnnplan/base/error.hpp>

#include <vector>

namespace gnnplan::kernels {
namespace {

class Allocated : public DeviceMemory {
public:
    explicit Allocated(std::size_t bytes) : buffer_(bytes) {}
    std::byte* data() const override { return buffer_.data(); }
    std::size_t size() const override { return buffer_.size(); }

private:
    LargeBuffer buffer_;
};

class Taken : public DeviceMemory {
public:
    Taken(std::shared_ptr<const void> owner, std::span<const std::byte> bytes)
        : owner_(std::move(owner)), bytes_(bytes) {}
    // Nobody writes to what was taken.
    std::byte* data() const override { return const_cast<std::byte*>(bytes_.data()); }
    std::size_t size() const override { return bytes_.size(); }

private:
    std::shared_ptr<const void> owner_;
    std::span<const std::byte> bytes_;
};

class Host : public Device {
public:
    explicit Host(const Table& table) : table_(table) {}

    const Table& table() const override { return table_; }
    TensorMemory memory() const override { return {}; }
    std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override { return std::make_unique<Allocated>(bytes); }
    std::unique_ptr<DeviceMemory> take(std::shared_ptr<const void> owner, std::span<const std::byte> bytes) override {
        return std::make_unique<Taken>(std::move(owner), bytes);
    }
    std::span<std::byte> stage(std::byte* to, std::size_t bytes) override { return {to, bytes}; }
    void send(std::size_t /*bytes*/) override {}
    void download(const std::byte* from, std::span<std::byte> to) override { std::copy_n(from, to.size(), to.data()); }
    const PassValues* begin_pass(const PassValues& values) override {
        pass_ = values;
        return &pass_;
    }
    void mark(std::size_t moment, double now) override {
        if (moment >= moments_.size()) moments_.resize(moment + 1);
        moments_[moment] = now;
    }
    double seconds(std::size_t from, std::size_t to) const override { return moments_[to] - moments_[from]; }
    void finish() override {}

private:
    PassValues pass_;
    std::vector<double> moments_;
    const Table& table_;
};

}  // namespace

std::shared_ptr<const Device::Look> Device::look_while_waiting(Look look) {
    auto kept = std::make_shared<const Look>(std::move(look));
    looks_.push_back(kept);
    return kept;
}

void Device::look() const {
    std::erase_if(looks_, [](const std::weak_ptr<const Look>& look) { return look.expired(); });
    for (const std::weak_ptr<const Look>& look : looks_)
        if (const auto kept = look.lock()) (*kept)();
}

std::shared_ptr<Links> Device::connect(const Peers& /*peers*/) {
    throw Error(ErrorCode::unavailable, cannot_connect());
}

std::unique_ptr<Device> host_device(const Table& table) { return std::make_unique<Host>(table); }

}  // namespace gnnplan::kernels
