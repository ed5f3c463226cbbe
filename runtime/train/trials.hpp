// Which candidates are tried in turn, beside the loaded graph.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "runtime/train/autotune.hpp"

#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace gnnplan::train {

// The data's counts in the schedule's numbering.
std::shared_ptr<const exec::GraphCounts> counts_for(const Schedule& schedule, const data::Dataset& dataset);

struct Trials {
    std::vector<Trial> trials;
    std::int64_t spare_bytes = 0;  // what all of them leave of a rank's memory
};

// Those of `usable`, indices of candidates, that fit beside the loaded graph. It is counted once for each numbering.
Trials fitting_trials(const Plan& plan, const std::vector<int>& usable, const data::Dataset& dataset);

}  // namespace gnnplan::train
