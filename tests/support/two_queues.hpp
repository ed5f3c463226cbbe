// The queues of a device without one: work of each runs in order, but only what one waits for says how the two
// interleave, and with those of other devices of the process.
#pragma once

#include <gnnplan/base/error.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace gnnplan::testing {

class TwoQueues : public std::enable_shared_from_this<TwoQueues> {
public:
    enum Kind : std::size_t { compute, transfer };

    // So much of a queue, counted from the beginning.
    struct Point {
        std::shared_ptr<TwoQueues> of;
        Kind kind;
        std::size_t count;
        bool passed() const { return of->queues_[kind].done.load(std::memory_order_acquire) >= count; }
    };

    explicit TwoQueues(unsigned order) : random_(order) {}

    void add(Kind kind, std::function<void()> run, std::vector<Point> after = {}) {
        const std::lock_guard lock(mutex_);
        queues_[kind].work.push_back({std::move(run), std::move(after)});
        ++queues_[kind].queued;
    }
    Point end(Kind kind) { return {shared_from_this(), kind, queues_[kind].queued}; }

    // Runs work in an order that nothing forbids, another one each time, until `enough`, or until there is none.
    // Where all of it waits for other devices, theirs is run.
    template <class Enough>
    void run_until(const Enough& enough) {
        const auto begin = std::chrono::steady_clock::now();
        while (!enough() && !empty()) {
            if (advance(0)) continue;
            ensure(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20), "queues wait for each other");
            std::this_thread::yield();
        }
    }
    void finish() {
        run_until([] { return false; });
    }

private:
    struct Work {
        std::function<void()> run;
        std::vector<Point> after;
    };
    struct Queue {
        std::deque<Work> work;
        std::size_t queued = 0;
        std::atomic<std::size_t> done = 0;
    };
    static constexpr int deepest = 16;

    bool empty() {
        const std::lock_guard lock(mutex_);
        return queues_[compute].work.empty() && queues_[transfer].work.empty();
    }
    // The first thing that the beginning of this queue waits for, if there is one.
    static const Point* missing(const Queue& queue) {
        for (const Point& point : queue.work.front().after)
            if (!point.passed()) return &point;
        return nullptr;
    }

    // Runs a piece of work, of this device or of one that it waits for. False where others do so just now.
    bool advance(int depth) {
        std::vector<std::shared_ptr<TwoQueues>> others;
        {
            const std::unique_lock lock(mutex_, std::try_to_lock);
            if (!lock.owns_lock() || depth == deepest) return false;
            const bool transfers_first = random_() % 2 == 0;
            for (const std::size_t turn : {0, 1}) {
                Queue& queue = queues_[(turn == 0) == transfers_first ? transfer : compute];
                if (queue.work.empty()) continue;
                if (const Point* point = missing(queue)) {
                    if (point->of.get() != this) others.push_back(point->of);
                    continue;
                }
                const Work work = std::move(queue.work.front());
                queue.work.pop_front();
                work.run();
                queue.done.fetch_add(1, std::memory_order_release);
                return true;
            }
        }
        for (const auto& other : others)
            if (other->advance(depth + 1)) return true;
        return false;
    }

    std::mutex mutex_;  // held while work runs, so that one thread at a time does what the device does
    std::mt19937 random_;
    Queue queues_[2];
};

}  // namespace gnnplan::testing
