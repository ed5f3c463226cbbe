// Times of samples.
#pragma once

#include "planner/calibrate/quantile.hpp"

#include <gnnplan/ir/profile.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace gnnplan::calibrate {

// The median of each sample of one kind, in the order in which they were taken.
inline std::vector<double> times_of(std::span<const Sample> samples, std::string_view what) {
    std::vector<double> times;
    for (const Sample& sample : samples) {
        if (sample.what == what) times.push_back(median(sample.seconds));
    }
    return times;
}

}  // namespace gnnplan::calibrate
