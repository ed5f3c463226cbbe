#include "tests/support/host_cuda/device.hpp"

#include "kernels/cuda/prepared.hpp"
#include "kernels/cuda/queue.hpp"
#include "kernels/cuda/table.hpp"
#include "kernels/large_buffer.hpp"

#include <gnnplan/base/error.hpp>

#include <algorithm>

namespace gnnplan::kernels::cuda {
namespace {

// Little, so that what does not fit is met often; nobody may expect zeros in it.
constexpr std::size_t scratch_bytes = 64 << 10;
// Little, too, so that wide operands are cut into slices.
constexpr std::int64_t l2_bytes = 24 << 10;

struct OwnQueue : Queue {
    LargeBuffer memory{scratch_bytes + 256};
    OwnQueue() {
        void* begin = memory.data();
        std::size_t space = memory.size();
        std::align(256, scratch_bytes, begin, space);
        scratch = {static_cast<std::byte*>(begin), scratch_bytes};
        std::ranges::fill(scratch, std::byte{0xff});
        blocking = gpu_blocking(l2_bytes);
    }
};

}  // namespace

Queue& queue() {
    static thread_local OwnQueue own;
    return own;
}

}  // namespace gnnplan::kernels::cuda

namespace gnnplan::testing {
namespace {

class FibreDevice : public kernels::Device {
public:
    const kernels::Table& table() const override { return host_->table(); }
    TensorMemory memory() const override { return {.row_start_bytes = 4}; }
    std::unique_ptr<kernels::DeviceMemory> allocate(std::size_t bytes) override { return host_->allocate(bytes); }
    std::unique_ptr<kernels::DeviceMemory> take(std::shared_ptr<const void> owner,
                                                std::span<const std::byte> bytes) override {
        return host_->take(std::move(owner), bytes);
    }
    std::span<std::byte> stage(std::byte* to, std::size_t bytes) override { return host_->stage(to, bytes); }
    void send(std::size_t bytes) override { host_->send(bytes); }
    void download(const std::byte* from, std::span<std::byte> to) override { host_->download(from, to); }
    const kernels::PassValues* begin_pass(const kernels::PassValues& values) override {
        return host_->begin_pass(values);
    }
    void mark(std::size_t moment, double now) override { host_->mark(moment, now); }
    double seconds(std::size_t from, std::size_t to) const override { return host_->seconds(from, to); }
    std::unique_ptr<kernels::Prepared> prepare(const kernels::Csr& a) override {
        using kernels::cuda::PreparedMatrix;
        const auto bytes = static_cast<std::size_t>(PreparedMatrix::bytes(a));
        return std::make_unique<PreparedMatrix>(*this, a, allocate(bytes));
    }
    void finish() override {
        kernels::cuda::Queue& queue = kernels::cuda::queue();
        const cudaError_t failed = std::exchange(queue.failed, cudaSuccess);
        if (failed != cudaSuccess) throw Error{ErrorCode::unavailable, queue.failed_in};
    }

private:
    std::unique_ptr<kernels::Device> host_ = kernels::host_device(kernels::cuda::cuda_table());
};

}  // namespace

std::unique_ptr<kernels::Device> fibre_device() { return std::make_unique<FibreDevice>(); }

}  // namespace gnnplan::testing
