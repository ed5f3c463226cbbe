// What memory of one rank and peaks over all ranks are both put together from.
#pragma once

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan {

// Whether products with the matrix exchange needed rows: its nonzeros are then stored by the numbers of those rows.
bool exchanges_needed_rows(const Schedule& schedule, TensorId matrix);

// Bytes of each tensor on a rank, 0 of adjacencies, and of what a step stages there.
std::vector<std::int64_t> tensor_bytes(const Schedule& schedule, int rank);
std::int64_t staged_bytes(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank);

// Fills in the peaks, when the arena and the sparse bytes are known.
void add_load_and_peak(const Schedule& schedule, const GraphStats& graph, MemoryPlan& plan);

}  // namespace gnnplan
