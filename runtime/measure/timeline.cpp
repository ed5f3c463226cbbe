#include "runtime/measure/timeline.hpp"

#include "runtime/measure/clock.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gnnplan::measure {

void Timeline::add(const TimedStep& step) {
    steps_.push_back(step);
    while (steps_.front().epoch != step.epoch &&
           (step.epoch - steps_.front().epoch >= max_epochs_ || steps_.size() > max_steps_)) {
        drop_first_epoch();
    }
}

void Timeline::drop_first_epoch() {
    const std::int64_t epoch = steps_.front().epoch;
    while (!steps_.empty() && steps_.front().epoch == epoch) steps_.pop_front();
}

void Timeline::shift(double seconds) {
    for (TimedStep& step : steps_) {
        step.begin += seconds;
        step.end += seconds;
    }
}

std::string Timeline::pack() const {
    std::string text(steps_.size() * sizeof(TimedStep), '\0');
    std::size_t at = 0;
    for (const TimedStep& step : steps_) {
        std::memcpy(text.data() + at, &step, sizeof step);
        at += sizeof step;
    }
    return text;
}

Timeline Timeline::unpack(const std::string& packed) {
    Timeline timeline;
    for (std::size_t at = 0; at + sizeof(TimedStep) <= packed.size(); at += sizeof(TimedStep)) {
        std::memcpy(&timeline.steps_.emplace_back(), packed.data() + at, sizeof(TimedStep));
    }
    return timeline;
}

std::vector<double> clock_offsets(std::span<const std::vector<double>> readings) {
    std::vector<double> offsets;
    offsets.reserve(readings.size());
    for (const std::vector<double>& own : readings) {
        std::vector<double> behind;
        behind.reserve(own.size());
        for (std::size_t i = 0; i < own.size(); ++i) behind.push_back(readings.front()[i] - own[i]);
        const auto [least, most] = std::minmax_element(behind.begin(), behind.end());
        const bool same_clock = behind.empty() || (*least <= 0 && *most >= 0);
        offsets.push_back(same_clock ? 0 : median(std::move(behind)));
    }
    return offsets;
}

}  // namespace gnnplan::measure
