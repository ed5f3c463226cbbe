// Trials are the candidates that are tried in turn, beside the loaded graph.
#pragma once

#include "runtime/train/autotune.hpp"

#include <gnnplan/base/tensor_memory.hpp>
#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan::train {

struct Trials {
    std::vector<Trial> trials;
    std::int64_t feature_bytes = 0;  // of all features, where a rank has room to keep them beside every trial; else 0
    std::int64_t peak_bytes = 0;     // the most that a rank holds while these are tried, kept features included
};

// Those of `usable`, indices of candidates, that fit beside the loaded graph in the memory that the plan allows, which
// is counted once for each numbering; none when the first of them, which is the one to beat, does not. `graph` answers
// in its own numbering. `keeps_features`: a rank would keep all features in memory of its own, as processes do.
// `memory` is what their tensors lie in.
Trials fitting_trials(const Plan& plan, const std::vector<int>& usable, const GraphStats& graph, bool keeps_features,
                      const TensorMemory& memory);

}  // namespace gnnplan::train
