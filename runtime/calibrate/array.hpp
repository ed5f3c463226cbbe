// Arrays to measure on: on huge pages where they are large, as the operands of the executor are.
#pragma once

#include "kernels/large_buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gnnplan::calibrate {

template <class T>
class Array {
public:
    Array() = default;
    explicit Array(std::int64_t count, T value = T{})
        : buffer_(static_cast<std::size_t>(count) * sizeof(T)), count_(static_cast<std::size_t>(count)) {
        std::ranges::fill(span(), value);
    }

    T* data() const { return reinterpret_cast<T*>(buffer_.data()); }
    std::size_t size() const { return count_; }
    std::span<T> span() const { return {data(), count_}; }
    T* begin() const { return data(); }
    T* end() const { return data() + count_; }

private:
    kernels::LargeBuffer buffer_;
    std::size_t count_ = 0;
};

}  // namespace gnnplan::calibrate
