// Ends a training while there is time for one more epoch and a checkpoint.
#pragma once

#include "runtime/measure/clock.hpp"

#include <gnnplan/ir/measurement.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace gnnplan::run {

class TimeLimit {
public:
    // Without a number of seconds there is no limit. `used`: seconds of it that have passed before; the clock outlives
    // the object.
    TimeLimit(std::optional<std::int64_t> seconds, double used, measure::Clock& clock);

    // Called when an epoch is trained, before it is evaluated: why no other should begin.
    std::optional<std::string> reached();
    // Called when it is evaluated, too.
    void add(const EpochRecord& epoch);

private:
    std::optional<std::int64_t> seconds_;
    measure::Clock& clock_;
    double began_;
    double trained_at_ = 0;     // the epoch under way, but for its evaluation
    double longest_epoch_ = 0;  // seconds, with its evaluation
};

}  // namespace gnnplan::run
