// Floats on huge pages, or on small ones, and matrices of them.
#pragma once

#include "kernels/views.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace gnnplan::bench {

class HugeBuffer {
public:
    HugeBuffer(std::int64_t floats, bool huge) : size_(floats) {
        constexpr std::size_t page = std::size_t{2} << 20;
        const std::size_t bytes = (static_cast<std::size_t>(floats) * sizeof(float) + page - 1) / page * page;
        data_.reset(static_cast<float*>(std::aligned_alloc(page, bytes)));
        if (!data_) throw std::bad_alloc();
        madvise(data_.get(), bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);  // advice: may be refused
        std::memset(data_.get(), 0, bytes);
    }

    float* data() const { return data_.get(); }
    std::int64_t size() const { return size_; }

private:
    struct Free {
        void operator()(float* data) const { std::free(data); }
    };
    std::int64_t size_;
    std::unique_ptr<float, Free> data_;
};

// A matrix on huge pages, of 17 different numbers: eighths from least / 8 on. None of them is 0 where that is positive.
struct HugeMatrix {
    HugeBuffer buffer;
    kernels::Matrix matrix;

    HugeMatrix(std::int64_t rows, std::int64_t columns, std::int64_t least = -8)
        : buffer(rows * columns, true), matrix{buffer.data(), rows, columns, columns} {
        for (std::int64_t i = 0; i < buffer.size(); ++i)
            buffer.data()[i] = static_cast<float>(i * 7919 % 17 + least) / 8;
    }
};

}  // namespace gnnplan::bench
