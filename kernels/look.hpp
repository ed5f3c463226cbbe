// The thread that calls a product looks after messages that are under way meanwhile.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

namespace gnnplan::kernels {

// A product tells it after each chunk of rows of the calling thread what that took, and it looks after so many flops.
// Threads of a team cannot be left by an exception, so that what a look throws is kept, and no further one is taken.
class Look {
public:
    Look(std::int64_t flops, std::function<void()> look) : flops_(flops), look_(std::move(look)) {}

    std::int64_t flops() const { return flops_; }
    std::int64_t count() const { return count_; }

    void after(std::int64_t flops) noexcept {
        since_ += flops;
        if (since_ < flops_ || thrown_) return;
        since_ %= flops_;
        ++count_;
        try {
            look_();
        } catch (...) {
            thrown_ = std::current_exception();
        }
    }
    void rethrow() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }

private:
    std::int64_t flops_;
    std::function<void()> look_;
    std::int64_t since_ = 0;  // flops since the last look
    std::int64_t count_ = 0;
    std::exception_ptr thrown_;
};

}  // namespace gnnplan::kernels
