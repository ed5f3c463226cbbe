// Reading guide: a share has several parts, which threads take one after the other. The edges that other threads have
// read wait in a queue of bounded length until the calling one takes them; in between it reads parts itself, so that
// nothing depends on how many threads there really are.
#include "runtime/load/threaded_read.hpp"

#include "kernels/parallel.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

namespace gnnplan::load {
namespace {

// A thread stops because of what happened to another.
struct Stopped {};

// Edges that were read, with weights or without.
struct Block {
    std::vector<data::Edge> edges;
    std::vector<float> weights;
};

class ThreadedRead {
public:
    ThreadedRead(const data::Dataset& dataset, int rank, int ranks, const EdgeReceiver& receiver, int threads)
        : dataset_(dataset),
          receiver_(receiver),
          share_{rank, ranks, 0, parts_of_thread * threads},
          most_waiting_(2 * static_cast<std::size_t>(threads)),
          threads_(threads),
          found_(static_cast<std::size_t>(share_.parts)),
          failures_(found_.size()),
          rest_(dataset.options().preparation.edge_weights, receiver.take) {}

    data::ParsedGraph read() {
        kernels::parallel_for(threads_, kernels::serial_work, kernels::LoopSchedule::fixed, [&](std::int64_t thread) {
            if (thread > 0) return read_parts([this](auto edges, auto weights) { wait_for_taking(edges, weights); });
            read_parts([this](auto edges, auto weights) {
                taking([&] {
                    take(edges, weights);
                    take_waiting(false);
                });
            });
            if (not_taken_ != nullptr) return;
            try {
                taking([&] { take_waiting(true), rest_.hand_on(); });
            } catch (const Stopped&) {
            }
        });
        const auto failed = std::ranges::find_if(failures_, [](const auto& failure) { return failure != nullptr; });
        if (failed != failures_.end()) std::rethrow_exception(*failed);
        if (not_taken_ != nullptr) std::rethrow_exception(not_taken_);
        return joined();
    }

private:
    static constexpr int parts_of_thread = 4;  // so that none waits long for another

    // Reads parts until there are none left. An exception is kept; later parts are given up then.
    void read_parts(const data::EdgeList::Take& take) {
        for (;;) {
            data::FileShare part = share_;
            {
                const std::lock_guard lock(mutex_);
                if (next_ >= share_.parts || next_ > first_failed_ || not_taken_ != nullptr) return;
                part.part = next_++;
                ++reading_;
            }
            std::exception_ptr failure;
            bool failing_elsewhere = false;
            try {
                found_[static_cast<std::size_t>(part.part)] = dataset_.read_share(part, [&](auto edges, auto weights) {
                    if (part.part > first_failed()) throw Stopped();
                    receiver_.look(edges);
                    take(edges, weights);
                });
            } catch (const Stopped&) {
                failing_elsewhere = true;
            } catch (...) {
                failure = std::current_exception();
            }
            const std::lock_guard lock(mutex_);
            --reading_;
            if (failure != nullptr) fail(part.part, failure);
            if (failure != nullptr || failing_elsewhere || reading_ == 0) changed_.notify_all();
        }
    }

    // With the mutex held.
    void fail(int part, std::exception_ptr failure) {
        failures_[static_cast<std::size_t>(part)] = std::move(failure);
        first_failed_ = std::min(first_failed_, part);
    }
    int first_failed() {
        const std::lock_guard lock(mutex_);
        return not_taken_ != nullptr ? -1 : first_failed_;
    }

    // Blocks are taken as they are, and what is shorter is put together first.
    void take(std::span<const data::Edge> edges, std::span<const float> weights) {
        if (edges.size() == data::EdgeList::block_edges) return receiver_.take(edges, weights);
        rest_.add(edges, weights);
    }

    void wait_for_taking(std::span<const data::Edge> edges, std::span<const float> weights) {
        Block block;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return waiting_.size() < most_waiting_ || not_taken_ != nullptr; });
            if (not_taken_ != nullptr) throw Stopped();
            if (!spare_.empty()) block = std::exchange(spare_.back(), {}), spare_.pop_back();
        }
        block.edges.assign(edges.begin(), edges.end());
        block.weights.assign(weights.begin(), weights.end());
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(block));
        changed_.notify_all();
    }

    // Takes what waits; with `all` also what is still read.
    void take_waiting(bool all) {
        for (;;) {
            Block block;
            {
                std::unique_lock lock(mutex_);
                if (all) changed_.wait(lock, [&] { return !waiting_.empty() || reading_ == 0; });
                if (waiting_.empty()) return;
                block = std::move(waiting_.back());
                waiting_.pop_back();
                changed_.notify_all();
            }
            take(block.edges, block.weights);
            const std::lock_guard lock(mutex_);
            spare_.push_back(std::move(block));
        }
    }

    // An exception of `take` ends all reading, and is no fault of the file.
    template <class Taking>
    void taking(const Taking& take) {
        try {
            take();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            not_taken_ = std::current_exception();
            changed_.notify_all();
            throw Stopped();
        }
    }

    data::ParsedGraph joined() {
        data::ParsedGraph all = std::move(found_.front());
        all.by_one = all.by_one && share_.of > 1;  // by one rank, not by one thread
        for (std::size_t i = 1; i < found_.size(); ++i) {
            const data::ParsedGraph& part = found_[i];
            all.vertices = std::max(all.vertices, part.vertices);
            all.edges_read += part.edges_read;
            all.edges_declared = std::max(all.edges_declared, part.edges_declared);
            all.edge_values_ignored += part.edge_values_ignored;
            all.said.nodes = std::max(all.said.nodes, part.said.nodes);
            all.said.edges = std::max(all.said.edges, part.said.edges);
            all.lines.append(part.lines);
        }
        return all;
    }

    const data::Dataset& dataset_;
    const EdgeReceiver& receiver_;
    const data::FileShare share_;
    const std::size_t most_waiting_;
    const int threads_;
    std::vector<data::ParsedGraph> found_;      // by part
    std::vector<std::exception_ptr> failures_;  // by part
    data::EdgeList rest_;                       // of the calling thread

    std::mutex mutex_;  // of all that follows
    std::condition_variable changed_;
    int next_ = 0;
    int reading_ = 0;  // threads that do
    int first_failed_ = std::numeric_limits<int>::max();
    std::exception_ptr not_taken_;  // what ended the calling thread's taking, which alone sets it
    std::vector<Block> waiting_, spare_;
};

}  // namespace

data::ParsedGraph read_with_threads(const data::Dataset& dataset, int rank, int ranks, const EdgeReceiver& receiver) {
    const int threads = kernels::max_threads();
    if (threads > 1) return ThreadedRead(dataset, rank, ranks, receiver, threads).read();
    return dataset.read_share({rank, ranks}, [&](auto edges, auto weights) {
        receiver.look(edges);
        receiver.take(edges, weights);
    });
}

}  // namespace gnnplan::load
