// Arrays to measure on, in the memory of a device.
#pragma once

#include "kernels/device.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gnnplan::calibrate {

// Element i of `to`, which lies in the device's memory, becomes element(i).
template <class T, std::invocable<std::size_t> Element>
void fill(kernels::Device& device, std::span<T> to, const Element& element) {
    for (std::size_t first = 0; first < to.size();) {
        const std::span<T> rest = to.subspan(first);
        const std::span<std::byte> room = device.stage(reinterpret_cast<std::byte*>(rest.data()), rest.size_bytes());
        T* const staged = reinterpret_cast<T*>(room.data());
        const std::size_t count = room.size() / sizeof(T);
        for (std::size_t i = 0; i < count; ++i) staged[i] = element(first + i);
        device.send(count * sizeof(T));
        first += count;
    }
}
template <class T>
void fill(kernels::Device& device, std::span<T> to, T value) {
    fill(device, to, [value](std::size_t) { return value; });
}

template <class T>
class Array {
public:
    Array() = default;
    Array(kernels::Device& device, std::int64_t count, T value = T{})
        : Array(device, count, [value](std::size_t) { return value; }) {}
    template <std::invocable<std::size_t> Element>
    Array(kernels::Device& device, std::int64_t count, const Element& element)
        : memory_(device.allocate(static_cast<std::size_t>(count) * sizeof(T))),
          count_(static_cast<std::size_t>(count)) {
        fill(device, span(), element);
    }

    T* data() const { return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_->data()); }
    std::size_t size() const { return count_; }
    std::span<T> span() const { return {data(), count_}; }

private:
    std::unique_ptr<kernels::DeviceMemory> memory_;
    std::size_t count_ = 0;
};

// The elements, in the host's memory. Waits for the device.
template <class T>
std::vector<T> downloaded(kernels::Device& device, std::span<const T> from) {
    std::vector<T> values(from.size());
    device.download(reinterpret_cast<const std::byte*>(from.data()), std::as_writable_bytes(std::span(values)));
    device.finish();
    return values;
}

}  // namespace gnnplan::calibrate
