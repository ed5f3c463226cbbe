// Needed rows (Exchange::rows) where a rank has all nonzeros of its slice: counted for all blocks of the dense operand
// at once.
#pragma once

#include "planner/ir/dealt_blocks.hpp"
#include "planner/ir/sharded.hpp"

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan {

// Rows of one block of the dense operand that a rank's nonzeros meet.
struct NeededRows {
    std::int64_t rows = 0;
    std::int64_t pieces = 0;   // of the block, that have any
    std::int64_t largest = 0;  // of one piece
};

// Whether every rank has all nonzeros of its slice, so that the k-th piece of each is the block of one other rank.
inline bool has_whole_slices(const Grid& grid, const Tensor& matrix) {
    return !gathers_matrix(grid, matrix) && !block_distributed(matrix) && !deals_rows(matrix);
}

// Those of `rank`, by the coordinate along x of the ranks that have the blocks, its own among them. Ranks of a y-group
// have the same. The matrix has whole slices.
std::vector<NeededRows> needed_rows(const Schedule& schedule, TensorId matrix, const GraphStats& graph, int rank);

// Returns the rows that each rank fetches and serves. The product exchanges needed rows; a rank serves one other at a
// stage.
std::vector<SliceRows> rows_of_whole_slices(const Schedule& schedule, TensorId matrix, const GraphStats& graph);

}  // namespace gnnplan
