// Which candidates are tried in turn, beside the loaded graph.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "runtime/train/autotune.hpp"
#include "runtime/train/device_room.hpp"

#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gnnplan::train {

// The data's counts in the numbering of the file, and in the schedule's.
exec::GraphCounts counts_of(const data::Dataset& dataset);
std::shared_ptr<const exec::GraphCounts> counts_for(const Schedule& schedule, const data::Dataset& dataset);

// Those of `usable` that the plan's memory and the room on the devices allow on this graph, as the only ones trained;
// `memory` is what their tensors lie in, here and below. A plan made without --memory allows all, and so do devices of
// which nobody knows what is free. Throws ErrorCode::infeasible when there is none.
std::vector<int> candidates_that_fit(const Plan& plan, const std::vector<int>& usable, const data::Dataset& dataset,
                                     const TensorMemory& memory, const std::optional<DeviceRoom>& room);

struct Trials {
    std::vector<Trial> trials;
    std::int64_t feature_bytes = 0;  // of all features, where a rank has room to keep them beside every trial; else 0
    std::int64_t peak_bytes = 0;     // the most that a rank holds while these are tried, kept features included
};

// Those of `usable`, indices of candidates, that fit beside the loaded graph in the memory that the plan allows, which
// is counted once for each numbering; none when the first of them, which is the one to beat, does not. `graph` answers
// in its own numbering. `keeps_features`: a rank would keep all features in memory of its own, as processes do.
Trials fitting_trials(const Plan& plan, const std::vector<int>& usable, const GraphStats& graph, bool keeps_features,
                      const TensorMemory& memory);

}  // namespace gnnplan::train
