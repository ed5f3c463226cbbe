// When the steps of a pass begin and end on the device.
#pragma once

#include "kernels/device.hpp"
#include "runtime/measure/clock.hpp"
#include "runtime/measure/step_log.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace gnnplan::exec {

// Where each step of a pass begins and ends among the moments that the device marks. A step begins where the one before
// ended, unless an observer took time in between.
class Moments {
public:
    Moments(kernels::Device& device, measure::Clock& clock) : device_(device), clock_(clock) {
        begin_ = clock_.now();
        device_.mark(next_, begin_);
    }
    void end(std::size_t step) {
        steps_.push_back({step, next_, next_ + 1});
        device_.mark(++next_, clock_.now());
    }
    void begin_anew() { device_.mark(++next_, clock_.now()); }

    // The step that ended last, of those whose end has come since the last call.
    std::optional<std::size_t> passed() {
        std::optional<std::size_t> last;
        for (; seen_ < steps_.size() && device_.has_come(steps_[seen_].end); ++seen_) last = steps_[seen_].step;
        return last;
    }
    // The last step that passed() has seen end.
    std::optional<std::size_t> last() const {
        return seen_ == 0 ? std::nullopt : std::optional(steps_[seen_ - 1].step);
    }
    // After finish().
    void take_times(std::vector<measure::StepSample>& samples) const {
        for (const auto& [step, begin, end] : steps_) {
            samples[step].seconds = device_.seconds(begin, end);
            samples[step].begin = begin_ + device_.seconds(0, begin);
        }
    }

private:
    struct Timed {
        std::size_t step, begin, end;
    };
    kernels::Device& device_;
    measure::Clock& clock_;
    double begin_ = 0;
    std::size_t next_ = 0, seen_ = 0;
    std::vector<Timed> steps_;
};

}  // namespace gnnplan::exec
