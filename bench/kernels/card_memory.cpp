#include "bench/kernels/card_memory.hpp"

#include "bench/kernels/gpu_bench.hpp"

#include <gnnplan/base/error.hpp>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>

namespace gnnplan::bench {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

std::int64_t free_bytes(const kernels::Device& device) { return device.free_memory()->bytes; }

// Opens a context when it is told to, answers, and keeps it until nobody can tell it anything any more.
[[noreturn]] void hold_context(int hear, int tell) {
    char told = 0, answer = 'n';
    if (read(hear, &told, 1) == 1) {
        try {
            bench::free_bytes(kernels::cuda::choose_gpu(0));
            answer = 'y';
        } catch (const Error&) {  // the GPU may be for one process at a time
        }
        if (write(tell, &answer, 1) == 1 && read(hear, &told, 1) != 0) _exit(1);
    }
    _exit(0);
}

}  // namespace

SecondContext::SecondContext() {
    std::array<int, 2> there{}, back{};  // to read from, and to write to
    if (pipe(there.data()) != 0 || pipe(back.data()) != 0) return;
    process_ = fork();
    if (process_ == 0) {
        close(there[1]), close(back[0]);
        hold_context(there[0], back[1]);
    }
    close(there[0]), close(back[1]);
    tell_ = there[1], hear_ = back[0];
}

bool SecondContext::open() {
    char answer = 'y';
    return process_ > 0 && write(tell_, &answer, 1) == 1 && read(hear_, &answer, 1) == 1 && answer == 'y';
}

SecondContext::~SecondContext() {
    close(tell_), close(hear_);
    if (process_ > 0) waitpid(process_, nullptr, 0);
}

ContextMemory measure_context() {
    ContextMemory memory;
    std::optional<SecondContext> second(std::in_place);
    const kernels::cuda::Gpu gpu = kernels::cuda::choose_gpu(0);
    const std::int64_t before = bench::free_bytes(gpu);
    if (second->open()) memory.bytes = before - bench::free_bytes(gpu);
    second.reset();
    memory.free = bench::free_bytes(gpu);
    return memory;
}

std::vector<Taken> measure_first_uses(kernels::Device& device, std::int64_t free) {
    std::vector<Taken> uses;
    const auto note = [&](const char* what, std::int64_t asked) {
        device.finish();
        const std::int64_t left = free_bytes(device);
        uses.push_back({what, free - left, asked});
        free = left;
    };
    note("device with cuBLAS", device.free_memory()->held_bytes);
    constexpr std::int64_t rows = 64, width = 32;
    const std::vector<std::int64_t> row_start = {0, rows};
    const std::vector<std::int32_t> column(rows, 0);
    const std::vector<float> value(rows, 0.5F);
    const DeviceCsr a(device, {1, rows, row_start.data(), column.data(), value.data()});
    const DeviceMatrix b(device, rows, width, 0.5F, 1.5F), c(device, 1, width), square(device, width, width);
    note("operands", 4 * (2 * rows + 2 + rows * width + width + width * width));
    device.table().gemm(kernels::Transpose::yes, kernels::Transpose::no, b.view(), b.view(), square.view(), false);
    note("first product of cuBLAS", 0);
    device.table().spmm(a.view(), b.view(), c.view(), false, {});
    note("first product of ours", 0);
    const LibraryProduct product(device, a, b.view(), c.view(), kernels::cuda::LibraryAlgorithm::csr3);
    note("cuSPARSE and what it prepares", static_cast<std::int64_t>(product.buffer_bytes()));
    product.queue(b.view(), c.view());
    note("first product of cuSPARSE", 0);
    return uses;
}

std::vector<Taken> measure_allocations(kernels::Device& device) {
    constexpr std::int64_t count = 8;
    std::vector<Taken> sizes;
    for (const std::int64_t bytes : {std::int64_t{256}, 4 * mib / 1024, mib / 16, mib, mib + 256, 2 * mib,
                                     2 * mib + 256, 5 * mib, 8 * mib + 256}) {
        const std::int64_t before = free_bytes(device);
        std::vector<std::unique_ptr<kernels::DeviceMemory>> held;
        for (std::int64_t i = 0; i < count; ++i) held.push_back(device.allocate(static_cast<std::size_t>(bytes)));
        sizes.push_back({fmt::format("{} of {}", count, bytes), before - free_bytes(device), count * bytes});
    }
    return sizes;
}

}  // namespace gnnplan::bench
