// When a rank was last seen, and where: in memory that all ranks of its node see.
#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace gnnplan::comm {

class Heartbeat {
public:
    // The stage of a rank that is outside the steps of its schedule; it takes the place of the step's number.
    enum Stage : std::int32_t {
        building = -1,  // a candidate: sparse blocks, weights, the steps before the first epoch
        starting = -2,  // MPI
        greeting = -3,  // the other ranks
        joining = -4,   // communicators and shared memory
        checking = -5,  // plan and flags
        reading = -6,   // the data
        loading = -7,   // a share of the graph
        writing = -8,   // files that ranks write together
        finishing = -9,
        leaving = -10,  // MPI
    };

    struct Seen {
        std::uint64_t beats = 0;  // 0: it has not been seen yet
        std::int64_t epoch = 0;
        std::int32_t step = 0;
        std::chrono::nanoseconds at{};
    };

    static std::chrono::nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

    // The rank itself: this step of its schedule is done.
    void beat(std::int64_t epoch, std::int32_t step) {
        epoch_.store(epoch, std::memory_order_relaxed);
        step_.store(step, std::memory_order_relaxed);
        show_alive();
        beats_.fetch_add(1, std::memory_order_release);
    }
    void enter(Stage stage) { beat(0, stage); }
    // Shows that the rank makes progress within the step or stage where it was last seen.
    void show_alive() { at_.store(now().count(), std::memory_order_relaxed); }

    // Notes that the calling thread is this rank.
    void belongs_to_caller();
    // 0: belongs_to_caller() has not been called yet.
    std::int32_t process() const { return process_.load(std::memory_order_relaxed); }
    // The processor time of the rank's thread, which only its own process can read; 0 after the thread has ended.
    std::chrono::nanoseconds processor_time() const;

    // True for one caller only, of all that see this.
    bool claim() { return !claimed_.exchange(true); }

    // Anybody. Figures of two neighbouring steps may be mixed.
    Seen seen() const {
        const std::uint64_t beats = beats_.load(std::memory_order_acquire);
        return {beats, epoch_.load(std::memory_order_relaxed), step_.load(std::memory_order_relaxed),
                std::chrono::nanoseconds(at_.load(std::memory_order_relaxed))};
    }

    // Whether the rank is in a call that waits for others, in which it may keep a processor busy without making
    // progress; and how many such calls it has begun.
    bool waits() const { return waiting_.load(std::memory_order_relaxed) > 0; }
    std::uint64_t waited() const { return calls_.load(std::memory_order_relaxed); }

private:
    friend class Waiting;

    std::atomic<std::uint64_t> beats_{0};
    std::atomic<std::int64_t> epoch_{0};
    std::atomic<std::int64_t> at_{0};  // of the steady clock, which is one for all processes of a node
    std::atomic<std::uint64_t> calls_{0};
    std::atomic<std::int32_t> step_{0};
    std::atomic<std::int32_t> process_{0};
    std::atomic<std::int32_t> waiting_{0};
    std::atomic<clockid_t> clock_{-1};
    std::atomic<bool> claimed_{false};
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "locks would not work between processes");

// While an object of this class exists, the rank counts as waiting for others. Objects may nest.
class Waiting {
public:
    explicit Waiting(Heartbeat& rank) : rank_(rank) {
        rank_.calls_.fetch_add(1, std::memory_order_relaxed);
        rank_.waiting_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Waiting() { rank_.waiting_.fetch_sub(1, std::memory_order_relaxed); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

private:
    Heartbeat& rank_;
};

}  // namespace gnnplan::comm
