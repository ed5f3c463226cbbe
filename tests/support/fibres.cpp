#include "tests/support/fibres.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace gnnplan::testing::fibres {
namespace {

constexpr unsigned warp_lanes = 32;

[[noreturn]] void fail(const char* why) {
    std::fprintf(stderr, "fibres: %s\n", why);
    std::abort();
}

// AddressSanitizer is told of every change of stacks; without it these do nothing.
struct Stack {
    const void* bottom = nullptr;
    std::size_t size = 0;
};
void leave_for([[maybe_unused]] void** kept, [[maybe_unused]] const Stack& next) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(kept, next.bottom, next.size);
#endif
}
void arrive([[maybe_unused]] void* kept, [[maybe_unused]] Stack* from) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(kept, from == nullptr ? nullptr : &from->bottom,
                                    from == nullptr ? nullptr : &from->size);
#endif
}

// A fibre's last frames never return. AddressSanitizer is told that they are gone, or it would take memory that is
// later mapped at their addresses for them.
class Stacks : public boost::context::protected_fixedsize_stack {
public:
    using boost::context::protected_fixedsize_stack::basic_protected_fixedsize_stack;
    void deallocate(boost::context::stack_context& stack) {
#if defined(__SANITIZE_ADDRESS__)
        ASAN_UNPOISON_MEMORY_REGION(static_cast<const char*>(stack.sp) - stack.size, stack.size);
#endif
        boost::context::protected_fixedsize_stack::deallocate(stack);
    }
};

// A fibre that runs one thread after the other, so that each block does not need stacks of its own.
class Fibre {
public:
    explicit Fibre(const std::function<void()>*& thread) : thread_(thread) {
        Stacks allocator(stack_bytes);
        const boost::context::stack_context stack = allocator.allocate();
        own_ = {static_cast<const char*>(stack.sp) - stack.size, stack.size};
        fibre_ =
            boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
                                  allocator, [this](boost::context::fiber&& back) { return run(std::move(back)); });
    }
    Fibre(const Fibre&) = delete;
    Fibre& operator=(const Fibre&) = delete;
    ~Fibre() {
        ended_ = true;
        resume();
    }

    void begin() { done_ = false; }
    bool done() const { return done_; }
    // Returns when the thread is done or pauses.
    void resume() {
        void* kept = nullptr;
        leave_for(&kept, own_);
        fibre_ = std::move(fibre_).resume();
        arrive(kept, nullptr);
    }
    // Called by the thread itself.
    void pause() {
        void* kept = nullptr;
        leave_for(&kept, caller_);
        back_ = std::move(back_).resume();
        arrive(kept, &caller_);
    }

private:
    static constexpr std::size_t stack_bytes = 64 << 10;

    boost::context::fiber run(boost::context::fiber&& back) {
        arrive(nullptr, &caller_);
        back_ = std::move(back);
        while (!ended_) {
            (*thread_)();
            done_ = true;
            pause();
        }
        leave_for(nullptr, caller_);
        return std::move(back_);
    }

    const std::function<void()>*& thread_;
    boost::context::fiber fibre_, back_;
    Stack own_, caller_;
    bool done_ = true;
    bool ended_ = false;
};

// The value that a lane of a warp brings to where it meets others.
struct Brought {
    Meeting kind = Meeting::barrier;
    std::uint32_t lanes = 0;
    std::uint64_t value = 0;
    unsigned source = 0;
};

struct Warp {
    std::array<Brought, warp_lanes> brought;
    std::array<std::uint64_t, warp_lanes> taken{};
    std::uint32_t waiting = 0;  // a bit for each lane that has come and not gone on
};

std::uint32_t bit(unsigned lane) { return std::uint32_t{1} << lane; }

class Machine {
public:
    void seed(std::uint32_t seed) { random_.seed(seed); }
    void run_grid(Extent grid, Extent block, const std::function<void()>& thread) {
        if (thread_ != nullptr) fail("a kernel starts another");
        thread_ = &thread;
        gridDim = grid;
        blockDim = block;
        std::vector<std::uint32_t> order(grid.count());
        for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
        for (std::size_t left = order.size(); left > 0; --left) {
            std::swap(order[left - 1], order[pick(left)]);
            blockIdx = position(order[left - 1], grid);
            run_block(static_cast<unsigned>(block.count()));
        }
        thread_ = nullptr;
    }
    unsigned lane() const { return running_ % warp_lanes; }

    void wait_for_block() {
        ++at_barrier_;
        fibres_[running_]->pause();
    }
    std::uint64_t meet(const Brought& brought) {
        Warp& warp = warps_[running_ / warp_lanes];
        const unsigned self = lane();
        if ((brought.lanes & bit(self)) == 0) fail("a lane meets lanes of its warp without naming itself");
        warp.brought[self] = brought;
        warp.waiting |= bit(self);
        if ((warp.waiting & brought.lanes) == brought.lanes) {
            settle(warp, brought);
        } else {
            fibres_[running_]->pause();
        }
        return warp.taken[self];
    }

private:
    std::size_t pick(std::size_t below) { return random_() % below; }
    static Extent position(std::uint32_t at, Extent in) { return {at % in.x, at / in.x % in.y, at / in.x / in.y}; }

    void run_block(unsigned threads) {
        while (fibres_.size() < threads) fibres_.push_back(std::make_unique<Fibre>(thread_));
        warps_.assign((threads + warp_lanes - 1) / warp_lanes, {});
        at_barrier_ = 0;
        for (unsigned t = 0; t < threads; ++t) fibres_[t]->begin();
        make_all_ready(threads);
        for (unsigned left = threads; left > 0;) {
            if (ready_.empty()) {
                if (at_barrier_ != threads) fail("threads of a block wait for others that do not come");
                at_barrier_ = 0;
                make_all_ready(threads);
            }
            std::swap(ready_.back(), ready_[pick(ready_.size())]);
            running_ = ready_.back();
            ready_.pop_back();
            threadIdx = position(running_, blockDim);
            fibres_[running_]->resume();
            if (fibres_[running_]->done()) --left;
        }
    }
    void make_all_ready(unsigned threads) {
        for (unsigned t = 0; t < threads; ++t) ready_.push_back(t);
    }
    // All have come: each takes what it came for, and those that wait may go on.
    void settle(Warp& warp, const Brought& last) {
        std::uint32_t votes = 0;
        for (unsigned l = 0; l < warp_lanes; ++l) {
            if ((last.lanes & bit(l)) == 0) continue;
            const Brought& brought = warp.brought[l];
            if (brought.kind != last.kind || brought.lanes != last.lanes)
                fail("lanes of a warp meet at different calls");
            if (brought.value != 0) votes |= bit(l);
            if (l != lane()) ready_.push_back(running_ - lane() + l);
        }
        for (unsigned l = 0; l < warp_lanes; ++l) {
            if ((last.lanes & bit(l)) == 0) continue;
            const unsigned source = warp.brought[l].source;
            if (last.kind == Meeting::shuffle && (last.lanes & bit(source)) == 0)
                fail("a lane takes from one that is not there");
            warp.taken[l] = last.kind == Meeting::ballot ? votes : warp.brought[source].value;
        }
        warp.waiting &= ~last.lanes;
    }

    std::minstd_rand random_{1};
    const std::function<void()>* thread_ = nullptr;
    std::vector<std::unique_ptr<Fibre>> fibres_;
    std::vector<Warp> warps_;
    std::vector<unsigned> ready_;
    unsigned running_ = 0;
    unsigned at_barrier_ = 0;
};

thread_local Machine machine;

}  // namespace

void run_grid(Extent grid, Extent block, const std::function<void()>& thread) { machine.run_grid(grid, block, thread); }
void seed_order(std::uint32_t seed) { machine.seed(seed); }
void wait_for_block() { machine.wait_for_block(); }
std::uint64_t meet(Meeting kind, std::uint32_t lanes, std::uint64_t value, unsigned source) {
    return machine.meet({kind, lanes, value, source});
}
unsigned lane() { return machine.lane(); }

}  // namespace gnnplan::testing::fibres
