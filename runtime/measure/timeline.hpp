// When the steps of the last epochs ran, on one rank and on all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace gnnplan::measure {

struct TimedStep {
    std::int64_t epoch = 0;
    std::int64_t step = 0;  // of the schedule
    double begin = 0;       // seconds of the rank's clock
    double end = 0;
};

// The steps of whole epochs, the last ones.
class Timeline {
public:
    // Keeps at most so many epochs, fewer where they have more than `max_steps` steps together, but always one.
    explicit Timeline(std::int64_t max_epochs = 1, std::size_t max_steps = 0)
        : max_epochs_(max_epochs), max_steps_(max_steps) {}

    void add(const TimedStep& step);
    // Another schedule runs from here on.
    void clear() { steps_.clear(); }
    // Puts the steps in the time of a clock that shows `seconds` more.
    void shift(double seconds);
    const std::deque<TimedStep>& steps() const { return steps_; }

    // As text for the control channel, and back.
    std::string pack() const;
    static Timeline unpack(const std::string& packed);

private:
    void drop_first_epoch();

    std::int64_t max_epochs_;
    std::size_t max_steps_;
    std::deque<TimedStep> steps_;
};

// The offset of each rank's clock, which makes it show rank 0's time. readings[r][i]: what rank r's clock showed after
// barrier i. Ranks leave a barrier at about the same moment; the median over barriers is not misled by one late rank.
// Clocks that show now more, now less than rank 0's are the same one.
std::vector<double> clock_offsets(std::span<const std::vector<double>> readings);

}  // namespace gnnplan::measure
