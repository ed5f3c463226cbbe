// The parts of which the memory of one rank and the peaks over all ranks are put together.
#pragma once

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace gnnplan {

// Whether products with the matrix exchange needed rows: its nonzeros are then stored by the numbers of those rows.
bool exchanges_needed_rows(const Schedule& schedule, TensorId matrix);

// Bytes of each tensor on a rank, 0 of adjacencies, and of what a step stages there.
std::vector<std::int64_t> tensor_bytes(const Schedule& schedule, const GraphStats& graph, int rank);
std::int64_t staged_bytes(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank);

// The pairs of matrices between which steps move values of edges, each once. For each pair a rank keeps the order of
// its nonzeros of the second matrix: 4 bytes each.
std::vector<std::pair<TensorId, TensorId>> all_reordered_edges(const Schedule& schedule);
std::int64_t edge_order_bytes(const Schedule& schedule, const std::vector<std::pair<TensorId, TensorId>>& pairs,
                              const GraphStats& graph, int rank);

// Fills in the peaks, when the arena and the sparse bytes are known.
void add_load_and_peak(const Schedule& schedule, const GraphStats& graph, int rank, MemoryPlan& plan);

}  // namespace gnnplan
