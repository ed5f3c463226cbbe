// The queues of a device without one: work of each runs in order, but only what one waits for says how the two
// interleave.
#pragma once

#include <gnnplan/base/error.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <random>
#include <utility>

namespace gnnplan::testing {

class TwoQueues {
public:
    explicit TwoQueues(unsigned order) : random_(order) {}

    // Queues work that runs after all that this queue holds and after the first `after` of the other queue, counted
    // from the beginning. Returns how many this queue has got by then.
    std::size_t compute(std::function<void()> work, std::size_t after = 0) {
        return computations_.add(std::move(work), after);
    }
    std::size_t transfer(std::function<void()> work, std::size_t after) {
        return transfers_.add(std::move(work), after);
    }
    std::size_t computations() const { return computations_.queued; }

    // Runs everything in an order that nothing forbids, another one each time.
    void finish() {
        while (!computations_.work.empty() || !transfers_.work.empty()) {
            const bool computes = computations_.ready(transfers_);
            const bool transfers = transfers_.ready(computations_);
            ensure(computes || transfers, "two queues wait for each other");
            const bool first = computes && (!transfers || random_() % 2 == 0);
            (first ? computations_ : transfers_).run_next();
        }
    }

private:
    struct Queue {
        struct Work {
            std::function<void()> run;
            std::size_t after;
        };
        std::deque<Work> work;
        std::size_t queued = 0;
        std::size_t done = 0;

        std::size_t add(std::function<void()> run, std::size_t after) {
            work.push_back({std::move(run), after});
            return ++queued;
        }
        bool ready(const Queue& other) const { return !work.empty() && work.front().after <= other.done; }
        void run_next() {
            const std::function<void()> run = std::move(work.front().run);
            work.pop_front();
            run();
            ++done;
        }
    };

    std::mt19937 random_;
    Queue computations_, transfers_;
};

}  // namespace gnnplan::testing
