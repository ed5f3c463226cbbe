// When a rank was last seen, and where: in memory that all ranks of its node see.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace gnnplan::comm {

class Heartbeat {
public:
    struct Seen {
        std::uint64_t beats = 0;  // 0: it has not been seen yet, or has done its work
        std::int64_t epoch = 0;
        std::int32_t step = 0;
        std::chrono::nanoseconds at{};
    };

    static std::chrono::nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

    // The rank itself: this step of its schedule is done.
    void beat(std::int64_t epoch, std::int32_t step) {
        epoch_.store(epoch, std::memory_order_relaxed);
        step_.store(step, std::memory_order_relaxed);
        at_.store(now().count(), std::memory_order_relaxed);
        beats_.fetch_add(1, std::memory_order_release);
    }
    // Says which process the rank is, or is a thread of.
    void belongs_to(std::int32_t process) { process_.store(process, std::memory_order_relaxed); }
    std::int32_t process() const { return process_.load(std::memory_order_relaxed); }

    // True for one caller only, of all that see this.
    bool claim() { return !claimed_.exchange(true); }

    // From here on nobody waits for it.
    void rest() { beats_.store(0, std::memory_order_release); }

    // Anybody. Figures of two neighbouring steps may be mixed.
    Seen seen() const {
        const std::uint64_t beats = beats_.load(std::memory_order_acquire);
        return {beats, epoch_.load(std::memory_order_relaxed), step_.load(std::memory_order_relaxed),
                std::chrono::nanoseconds(at_.load(std::memory_order_relaxed))};
    }

private:
    std::atomic<std::uint64_t> beats_{0};
    std::atomic<std::int64_t> epoch_{0};
    std::atomic<std::int64_t> at_{0};  // of the steady clock, which is one for all processes of a node
    std::atomic<std::int32_t> step_{0};
    std::atomic<std::int32_t> process_{0};
    std::atomic<bool> claimed_{false};
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "locks would not work between processes");

}  // namespace gnnplan::comm
