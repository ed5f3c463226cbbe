// The CUDA backend's device, on a runtime whose stream does nothing before somebody waits for it.
#include "kernels/backend.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/out_of_memory.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <vector>

namespace gnnplan::kernels {
namespace {

class CudaDevice : public ::testing::Test {
protected:
    CudaDevice() {
        setenv("GNNPLAN_CUDA_MODULE", CUDA_ON_HOST_MODULE, 1);
        device_ = open_backend("cuda").open(0);
    }

    static std::vector<std::uint32_t> ascending(std::size_t count, std::uint32_t first = 1) {
        std::vector<std::uint32_t> values(count);
        std::iota(values.begin(), values.end(), first);
        return values;
    }
    template <class T>
    static std::span<std::byte> bytes_of(std::vector<T>& values) {
        return std::as_writable_bytes(std::span(values));
    }

    void write(const DeviceMemory& memory, const std::vector<std::uint32_t>& values) {
        upload(*device_, std::as_bytes(std::span(values)), memory.data());
    }

    std::unique_ptr<Device> device_;
};

// More than both halves of the pinned memory there, and all of it back.
constexpr std::size_t many = (std::size_t{30} << 20) / sizeof(std::uint32_t) + 5;

TEST_F(CudaDevice, MovesMoreThanItsPinnedMemoryHolds) {
    std::vector<std::uint32_t> values = ascending(many);
    const auto memory = device_->allocate(values.size() * sizeof(std::uint32_t));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % 256, 0U);
    upload(*device_, bytes_of(values), memory->data());
    std::ranges::fill(values, 0U);  // it may be reused at once
    const auto taken = take(*device_, ascending(many, 7));
    std::vector<std::uint32_t> back(many), taken_back(many);
    device_->download(memory->data(), bytes_of(back));
    device_->download(taken->data(), bytes_of(taken_back));
    device_->finish();
    EXPECT_EQ(back, ascending(many));
    EXPECT_EQ(taken_back, ascending(many, 7));
}

TEST_F(CudaDevice, LetsGoOfWhatItTook) {
    auto owner = std::make_shared<const std::vector<std::uint32_t>>(ascending(9));
    const std::weak_ptr<const void> watched = owner;
    const std::span bytes = std::as_bytes(std::span(*owner));
    const auto memory = device_->take(std::move(owner), bytes);
    EXPECT_TRUE(watched.expired());
    EXPECT_EQ(memory->size(), bytes.size());
}

TEST_F(CudaDevice, DownloadsComeWithFinishInTheOrderOfTheQueue) {
    const auto memory = device_->allocate(3 * sizeof(std::uint32_t));
    std::vector<std::uint32_t> first(3), second(3);
    write(*memory, ascending(3, 10));
    device_->download(memory->data(), bytes_of(first));
    write(*memory, ascending(3, 20));
    device_->download(memory->data(), bytes_of(second));
    EXPECT_EQ(first, (std::vector<std::uint32_t>{0, 0, 0}));
    device_->finish();
    EXPECT_EQ(first, ascending(3, 10));
    EXPECT_EQ(second, ascending(3, 20));
}

TEST_F(CudaDevice, ManySmallUploadsDoNotOverwriteEachOther) {
    constexpr std::uint32_t count = 9;
    const auto memory = device_->allocate(count * sizeof(std::uint32_t));
    for (std::uint32_t i = 0; i < count; ++i)
        upload(*device_, std::as_bytes(std::span(&i, 1)), memory->data() + i * sizeof i);
    std::vector<std::uint32_t> back(count);
    device_->download(memory->data(), bytes_of(back));
    device_->finish();
    EXPECT_EQ(back, ascending(count, 0));
}

// Rows share pinned memory with each other until it is full, and then use it again.
TEST_F(CudaDevice, RowsAndLargeUploadsThatFillPinnedMemoryManyTimesAllArrive) {
    constexpr std::size_t row = 1021, rows = 7000, large = 5'000'000;  // 28.6 MB of rows; 20 MB at once
    const auto memory = device_->allocate((2 * rows * row + large) * sizeof(std::uint32_t));
    std::byte* to = memory->data();
    std::uint32_t next = 0;
    const auto send = [&](std::size_t count) {
        const std::vector<std::uint32_t> values = ascending(count, next);
        upload(*device_, std::as_bytes(std::span(values)), to);
        to += count * sizeof(std::uint32_t);
        next += static_cast<std::uint32_t>(count);
    };
    for (std::size_t i = 0; i < rows; ++i) send(row);
    send(large);
    for (std::size_t i = 0; i < rows; ++i) send(row);
    std::vector<std::uint32_t> back(next);
    device_->download(memory->data(), bytes_of(back));
    device_->finish();
    EXPECT_TRUE(back == ascending(next, 0));
}

TEST_F(CudaDevice, EveryPassHasItsValuesAtOneAddress) {
    std::vector<PassValues> seen(3);
    const PassValues* address = device_->begin_pass(pass_values(1));
    for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {
        if (epoch > 1) {
            EXPECT_EQ(device_->begin_pass(pass_values(epoch)), address);
        }
        device_->download(reinterpret_cast<const std::byte*>(address),
                          std::as_writable_bytes(std::span(&seen[epoch - 1], 1)));
    }
    device_->finish();
    for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {
        EXPECT_EQ(seen[epoch - 1].epoch, epoch);
        EXPECT_EQ(seen[epoch - 1].correction1, pass_values(epoch).correction1);
    }
}

TEST_F(CudaDevice, MarksAreOnItsOwnClock) {
    device_->mark(2, 100);
    device_->table().zero({device_->allocate(8)->data(), 8});
    device_->mark(0, 50);
    device_->finish();
    EXPECT_GE(device_->seconds(2, 0), 0);
    EXPECT_LT(device_->seconds(2, 0), 50);
    device_->mark(2, 0);
    device_->finish();
    EXPECT_LE(device_->seconds(2, 0), 0) << "a mark may be set again";
}

TEST_F(CudaDevice, NothingIsAnAddressToo) {
    const auto memory = device_->allocate(0);
    EXPECT_NE(memory->data(), nullptr);
    EXPECT_EQ(memory->size(), 0U);
    device_->download(memory->data(), {});
    upload(*device_, {}, memory->data());
    device_->finish();
}

TEST_F(CudaDevice, LackOfMemoryIsToldOnce) {
    EXPECT_THROW(device_->allocate(std::size_t{1} << 40), OutOfMemory);
    EXPECT_NO_THROW(device_->finish());
}

TEST_F(CudaDevice, AThreadHasOneAtATime) {
    EXPECT_THROW(open_backend("cuda").open(0), Error);
    device_.reset();
    EXPECT_NO_THROW(open_backend("cuda").open(0));
}

TEST_F(CudaDevice, WhatFailedInTheQueueComesOutOfFinish) {
    const auto memory = device_->allocate(4);
    std::vector<std::uint32_t> back(1, 5);
    device_->download(memory->data() + (std::size_t{1} << 35), bytes_of(back));  // no memory of the device's
    for (int again = 0; again < 2; ++again) {
        try {
            device_->finish();
            ADD_FAILURE() << "nothing was thrown";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::unavailable);
            EXPECT_THAT(error.what(), ::testing::StartsWith("cuda: copying to the host failed: "));
        }
    }
    EXPECT_EQ(back.front(), 5U) << "nothing is handed out then";
}

TEST(Gpus, AreDealtOutToTheRanksOfAMachine) {
    setenv("GNNPLAN_CUDA_MODULE", CUDA_ON_HOST_MODULE, 1);
    setenv("GNNPLAN_HOST_CUDA", "gpus=3", 1);
    const Backend backend = open_backend("cuda");
    for (int rank = 0; rank < 7; ++rank) {
        EXPECT_EQ(backend.device_name(rank),
                  "GPU " + std::to_string(rank % 3) + " on fibres, number " + std::to_string(rank % 3));
    }
    EXPECT_FALSE(backend.host_memory);
    unsetenv("GNNPLAN_HOST_CUDA");
}

TEST(Backends, OfTheHostNeedNothing) {
    for (const char* name : {"cpu", "reference"}) {
        const Backend backend = open_backend(name);
        EXPECT_TRUE(backend.host_memory);
        EXPECT_EQ(backend.open(0)->table().name, backend.device_name(0));
    }
    EXPECT_THROW(open_backend("gpu"), Error);
}

}  // namespace
}  // namespace gnnplan::kernels
