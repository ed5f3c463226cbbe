// cuSPARSE's product as the CUDA backend calls it, on a runtime whose stream does nothing before somebody waits for it.
#include "kernels/cuda/library_spmm.hpp"

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/gpu.hpp"

#include <gnnplan/base/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

namespace gnnplan::kernels::cuda {
namespace {

using Floats = std::vector<float>;

class LibrarySpmmOnHost : public ::testing::TestWithParam<LibraryAlgorithm> {
protected:
    template <class T>
    const T* on_device(std::vector<T> values) {
        memory_.push_back(take(*device_, std::move(values)));
        return reinterpret_cast<const T*>(memory_.back()->data());
    }
    // Earlier values must not show: NaN times 0 is NaN.
    float* room(std::size_t count) {
        return const_cast<float*>(on_device(Floats(count, std::numeric_limits<float>::quiet_NaN())));
    }
    std::span<std::byte> buffer(std::size_t bytes) {
        memory_.push_back(device_->allocate(bytes));
        return {memory_.back()->data(), bytes};
    }
    Csr matrix(std::vector<std::int32_t> row_start, std::vector<std::int32_t> column, Floats value) {
        Csr a;
        a.rows = std::ssize(row_start) - 1;
        a.columns = 3;
        a.narrow_row_start = on_device(std::move(row_start));
        a.column = on_device(std::move(column));
        a.value = on_device(std::move(value));
        return a;
    }
    Floats read(const float* from, std::size_t count) {
        Floats values(count);
        device_->download(reinterpret_cast<const std::byte*>(from), std::as_writable_bytes(std::span(values)));
        device_->finish();
        return values;
    }

    std::unique_ptr<Device> device_ = cuda_device(choose_gpu(0));
    std::vector<std::unique_ptr<DeviceMemory>> memory_;
};

// | 1 0 2 |   |  1  2 |   | 21 42 |
// | 0 0 0 | x |  4  5 | = |  0  0 |
// | 0 3 0 |   | 10 20 |   | 12 15 |
TEST_P(LibrarySpmmOnHost, MultipliesRowsAndLeavesOutEmptyOnes) {
    const Csr a = matrix({0, 2, 2, 3}, {0, 2, 1}, {1, 2, 3});
    const ConstMatrix b{on_device<float>({1, 2, 4, 5, 10, 20}), 3, 2, 2};
    const Matrix c{room(6), 3, 2, 2};
    LibrarySpmm product(a, 3, b, c, GetParam());
    EXPECT_EQ(product.buffer_bytes(), 20U) << "the row starts, and 4 bytes more for sums that are added to c";
    product.prepare(buffer(product.buffer_bytes()));
    product.multiply(b, c, false);
    EXPECT_EQ(read(c.data, 6), (Floats{21, 42, 0, 0, 12, 15}));
    product.multiply(b, c, true);
    product.multiply(b, c, true);
    EXPECT_EQ(read(c.data, 6), (Floats{63, 126, 0, 0, 36, 45}));
}

TEST_P(LibrarySpmmOnHost, TakesOtherAddressesWithEveryProductAndLeavesWhatLiesBetweenRows) {
    const Csr a = matrix({0, 1, 2}, {2, 0}, {1, -1});
    const ConstMatrix b1{on_device<float>({1, 9, 2, 9, 3, 9}), 3, 1, 2};
    const ConstMatrix b2{on_device<float>({4, 9, 5, 9, 6, 9}), 3, 1, 2};
    const Matrix c1{const_cast<float*>(on_device<float>({7, 7, 7, 7, 7, 7})), 2, 1, 3};
    const Matrix c2{const_cast<float*>(on_device<float>({8, 8, 8, 8, 8, 8})), 2, 1, 3};
    LibrarySpmm product(a, 2, b1, c1, GetParam());
    product.prepare(buffer(product.buffer_bytes()));
    product.multiply(b1, c1, false);
    product.multiply(b2, c2, true);
    EXPECT_EQ(read(c1.data, 6), (Floats{3, 7, 7, -1, 7, 7}));
    EXPECT_EQ(read(c2.data, 6), (Floats{14, 8, 8, 4, 8, 8}));
}

TEST_P(LibrarySpmmOnHost, MovesAndHasABufferOfItsOwn) {
    const Csr a = matrix({0, 1}, {1}, {2});
    const ConstMatrix b{on_device<float>({1, 2, 3}), 3, 1, 1};
    const Matrix c{room(1), 1, 1, 1};
    LibrarySpmm first(a, 1, b, c, GetParam()), second(a, 1, b, c, GetParam());
    first.prepare(buffer(first.buffer_bytes()));
    second.prepare(buffer(second.buffer_bytes()));
    const LibrarySpmm gone = std::move(second);
    LibrarySpmm moved = std::move(first);
    moved.multiply(b, c, false);
    EXPECT_EQ(read(c.data, 1), (Floats{4}));
}

TEST_P(LibrarySpmmOnHost, OfNothingIsZeroOrNothing) {
    const ConstMatrix b{on_device<float>({1, 2, 3}), 3, 1, 1};
    const Matrix c{const_cast<float*>(on_device<float>({5, 6, 7, 8})), 2, 1, 2};
    LibrarySpmm product(matrix({0, 0, 0}, {}, {}), 0, b, c, GetParam());
    EXPECT_EQ(product.buffer_bytes(), 0U);
    product.prepare({});
    product.multiply(b, c, true);
    EXPECT_EQ(read(c.data, 4), (Floats{5, 6, 7, 8}));
    product.multiply(b, c, false);
    EXPECT_EQ(read(c.data, 4), (Floats{0, 6, 0, 8}));

    const Matrix no_rows{nullptr, 0, 1, 1}, no_columns{nullptr, 1, 0, 0};
    LibrarySpmm without_rows(matrix({0}, {}, {}), 0, b, no_rows, GetParam());
    LibrarySpmm without_columns(matrix({0, 1}, {1}, {2}), 1, {nullptr, 3, 0, 0}, no_columns, GetParam());
    without_rows.prepare({});
    without_columns.prepare({});
    without_rows.multiply(b, no_rows, false);
    without_columns.multiply({nullptr, 3, 0, 0}, no_columns, false);
    EXPECT_NO_THROW(device_->finish());
}

TEST_P(LibrarySpmmOnHost, WhatItRefusesComesOutOfFinish) {
    const Csr a = matrix({0, 1}, {1}, {2});
    const ConstMatrix b{on_device<float>({1, 2, 3}), 3, 1, 1};
    const Matrix c{room(1), 1, 1, 1};
    LibrarySpmm product(a, 1, b, c, GetParam());
    product.prepare(buffer(product.buffer_bytes()));
    product.multiply({nullptr, 3, 1, 1}, c, false);
    try {
        device_->finish();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unavailable);
        EXPECT_THAT(error.what(),
                    ::testing::StartsWith("cuda: a sparse product failed: CUSPARSE_STATUS_INVALID_VALUE"));
    }
}

TEST_P(LibrarySpmmOnHost, IsNotMadeOfAnAddressThatIsNone) {
    const Csr a = matrix({0, 1}, {1}, {2});
    EXPECT_THROW(LibrarySpmm(a, 1, {nullptr, 3, 1, 1}, {nullptr, 1, 1, 1}, GetParam()), Error);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, LibrarySpmmOnHost,
                         ::testing::Values(LibraryAlgorithm::csr1, LibraryAlgorithm::csr2, LibraryAlgorithm::csr3));

}  // namespace
}  // namespace gnnplan::kernels::cuda
