// Buffers for measurements: one that is used again and again, or many of which each run takes another.
#pragma once

#include "runtime/calibrate/array.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gnnplan::calibrate {

// Slots of `count` elements each in the device's memory, of at least `total_bytes` together; one slot is the least.
template <class T>
class Slots {
public:
    Slots(kernels::Device& device, std::int64_t count, std::int64_t total_bytes)
        : count_(static_cast<std::size_t>(count)),
          stride_((count_ + per_page - 1) / per_page * per_page),
          slots_(stride_ == 0 ? 1 : static_cast<std::size_t>(total_bytes) / sizeof(T) / stride_ + 1),
          values_(device, static_cast<std::int64_t>(slots_ * stride_)) {}

    std::span<T> current() { return all().subspan(at_ * stride_, count_); }
    // A large odd step, reduced: no prefetcher follows it, and all slots come up before one does again.
    void advance() { at_ = (at_ + step_) % slots_; }
    std::span<T> all() { return values_.span(); }

private:
    static constexpr std::size_t per_page = 4096 / sizeof(T);
    static constexpr std::size_t step_ = 15485863;  // prime, above any number of slots

    std::size_t count_;
    std::size_t stride_;
    std::size_t slots_;
    std::size_t at_ = 0;
    Array<T> values_;
};

}  // namespace gnnplan::calibrate
