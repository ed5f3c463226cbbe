// Candidates fit, or do not, by counts of the graph that was read.
#pragma once

#include "runtime/blocks/block.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/deploy/device_room.hpp"
#include "runtime/exec/clone_rows.hpp"
#include "runtime/exec/graph_counts.hpp"
#include "runtime/exec/memory_tracker.hpp"

#include <gnnplan/ir/plan.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gnnplan::deploy {

// The data's counts in the numbering of the file, and in the schedule's. `pool` is drawn, and of the batches that are
// asked about; null: these are drawn when they are asked about.
exec::GraphCounts counts_of(const data::Dataset& dataset, std::shared_ptr<const sample::Pool> pool = nullptr);
std::shared_ptr<const exec::GraphCounts> counts_for(const Schedule& schedule, const data::Dataset& dataset,
                                                    std::shared_ptr<const sample::Pool> pool = nullptr);

// The scales of the graphs of groups, and the memory that they take.
struct GroupScales {
    exec::CloneScales scales;
    exec::Charge charge;
};
// Those of a numbering that has clones; else none. `whole` are those of the graph. Throws ErrorCode::mismatch where
// groups have other clones than those that the plan was made for: their rows would be others.
GroupScales scales_of_groups(const Plan& plan, const Schedule& schedule, const exec::NumberedCounts& counts,
                             const data::DegreeScales& whole, exec::MemoryTracker& tracker);

// Those of `usable` that the plan's memory and the room on the devices allow on this graph, as the only ones that run;
// `memory` is what their tensors lie in, here and below. A plan made without --memory allows all, and so do devices of
// which nobody knows what is free. `graph` answers in the numbering of the file; nothing where nobody can count
// yet, and plans are believed. Throws ErrorCode::infeasible when there is none.
std::vector<int> candidates_that_fit(const Plan& plan, const std::vector<int>& usable,
                                     const std::optional<exec::GraphCounts>& graph, const TensorMemory& memory,
                                     const std::optional<DeviceRoom>& room);

// Throws ErrorCode::infeasible where the schedule needs more on the counted graph than the plan allows.
void check_memory(const Plan& plan, const Schedule& schedule, const GraphStats& counts, const TensorMemory& memory);

// bytes_of(schedule, counts) of each of `usable`, in its order. The graph is counted once for each numbering.
using BytesOf = std::function<std::int64_t(const Schedule&, const GraphStats&)>;
std::vector<std::int64_t> bytes_by_candidate(const Plan& plan, const std::vector<int>& usable, const GraphStats& graph,
                                             const BytesOf& bytes_of);

}  // namespace gnnplan::deploy
