// Predictions beside measurements, as JSON.
#pragma once

#include "bench/prediction/race.hpp"

#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gnnplan::bench {

struct Setting {
    std::string graph;
    std::vector<std::int64_t> widths;
    int ranks = 1;
    std::string network;  // a name for what lies between the ranks
    Machine machine;      // that predicted
};

// An array with an object for each configuration, in the order of `field`:
//   graph, widths, ranks, network   the setting
//   configuration, operands         the configuration in words
//   predicted_seconds               of an epoch
//   predicted_low, predicted_high   between these in four of five cases
//   measured_seconds                median over turns of the largest over ranks
//   low, high                       between these the median lies with a confidence of 95 % (interval.hpp)
//   fastest, slowest                epoch
//   epochs, turns                   how many were timed
//   steps                           of an epoch: name, kind, predicted and measured seconds; they add up to the epoch
std::string rows_text(const Setting& setting, const std::vector<Candidate>& field,
                      const std::vector<Outcome>& outcomes);

}  // namespace gnnplan::bench
