// Counts the bytes one logical rank holds and remembers the most it ever held: of tensors, and of its host, where those
// are in a device's own memory; otherwise the two are one.
#pragma once

#include <gnnplan/base/error.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace gnnplan::exec {

enum class Holder : std::uint8_t { tensors, host };

class MemoryTracker {
public:
    explicit MemoryTracker(bool accelerator = false) : accelerator_(accelerator) {}

    // Whether tensors are in a device's own memory.
    bool accelerator() const { return accelerator_; }

    void charge(std::int64_t bytes, Holder holder) {
        Count& count = of(holder);
        count.current += bytes;
        count.peak = std::max(count.peak, count.current);
    }
    void release(std::int64_t bytes, Holder holder) { of(holder).current -= bytes; }

    std::int64_t current() const { return tensors_.current; }
    std::int64_t peak() const { return tensors_.peak; }
    // The most that the host of an accelerator held.
    std::int64_t host_peak() const { return host_.peak; }
    // Forgets the past: the peak is what is held now.
    void restart() {
        for (Count* count : {&tensors_, &host_}) count->peak = count->current;
    }

private:
    struct Count {
        std::int64_t current = 0;
        std::int64_t peak = 0;
    };
    Count& of(Holder holder) { return accelerator_ && holder == Holder::host ? host_ : tensors_; }

    bool accelerator_;
    Count tensors_, host_;
};

// Bytes charged for as long as this object lives.
class Charge {
public:
    Charge() = default;
    Charge(MemoryTracker& tracker, std::int64_t bytes, Holder holder)
        : tracker_(&tracker), bytes_(bytes), holder_(holder) {
        tracker.charge(bytes, holder);
    }
    Charge(Charge&& other) noexcept
        : tracker_(std::exchange(other.tracker_, nullptr)), bytes_(other.bytes_), holder_(other.holder_) {}
    Charge& operator=(Charge&& other) noexcept {
        std::swap(tracker_, other.tracker_);
        std::swap(bytes_, other.bytes_);
        std::swap(holder_, other.holder_);
        return *this;
    }
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;
    ~Charge() { reset(); }

    void reset() {
        if (tracker_ != nullptr) std::exchange(tracker_, nullptr)->release(bytes_, holder_);
    }

private:
    MemoryTracker* tracker_ = nullptr;
    std::int64_t bytes_ = 0;
    Holder holder_ = Holder::tensors;
};

// Charges bytes that the host holds only until they are on the device; nothing where the two are one.
inline Charge charge_until_uploaded(MemoryTracker& tracker, std::int64_t bytes) {
    return tracker.accelerator() ? Charge(tracker, bytes, Holder::host) : Charge();
}

}  // namespace gnnplan::exec
