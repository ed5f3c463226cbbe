// Counts the bytes one logical rank holds and remembers the most it ever held.
#pragma once

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace gnnplan::exec {

class MemoryTracker {
public:
    void charge(std::int64_t bytes) {
        current_ += bytes;
        peak_ = std::max(peak_, current_);
    }
    void release(std::int64_t bytes) { current_ -= bytes; }

    std::int64_t current() const { return current_; }
    std::int64_t peak() const { return peak_; }
    // Forgets the past: the peak is what is held now.
    void restart() { peak_ = current_; }

private:
    std::int64_t current_ = 0;
    std::int64_t peak_ = 0;
};

// Bytes charged for as long as this object lives.
class Charge {
public:
    Charge() = default;
    Charge(MemoryTracker& tracker, std::int64_t bytes) : tracker_(&tracker), bytes_(bytes) { tracker.charge(bytes); }
    Charge(Charge&& other) noexcept : tracker_(std::exchange(other.tracker_, nullptr)), bytes_(other.bytes_) {}
    Charge& operator=(Charge&& other) noexcept {
        std::swap(tracker_, other.tracker_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;
    ~Charge() { reset(); }

    void reset() {
        if (tracker_ != nullptr) std::exchange(tracker_, nullptr)->release(bytes_);
    }

private:
    MemoryTracker* tracker_ = nullptr;
    std::int64_t bytes_ = 0;
};

}  // namespace gnnplan::exec
