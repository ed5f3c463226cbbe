#include "planner/ir/needed_rows.hpp"

#include <gnnplan/base/at.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

// The pieces of a rank by the block that they are of, in the order of their columns.
struct SlicePieces {
    std::vector<Range> columns;
    std::vector<std::size_t> block;
};

SlicePieces pieces_by_block(const Schedule& schedule, const Tensor& matrix, int rank) {
    const Grid& grid = schedule.grid;
    SlicePieces pieces;
    for (int ix = 0; ix < grid.x; ++ix) {
        const int root = grid.neighbour(rank, Axis::x, ix);
        if (matrix.in_groups() && root != rank) continue;
        const Range block = dense_rows(grid, matrix, root);
        const int splits = root == rank ? 1 : matrix.storage.splits;
        for (int i = 0; i < splits; ++i) {
            const Range columns = balanced_block(block, i, splits);
            if (columns.empty()) continue;
            pieces.columns.push_back(columns);
            pieces.block.push_back(at(ix));
        }
    }
    return pieces;
}

}  // namespace

std::vector<NeededRows> needed_rows(const Schedule& schedule, TensorId matrix, const GraphStats& graph, int rank) {
    const Tensor& m = tensor_of(schedule, matrix);
    const SlicePieces pieces = pieces_by_block(schedule, m, rank);
    const std::vector<std::int64_t> met = graph.distinct_columns_of(
        m.matrix_on(schedule.grid, rank), block_of(schedule, matrix, rank).rows, pieces.columns);
    std::vector<NeededRows> needed(at(schedule.grid.x));
    for (std::size_t i = 0; i < met.size(); ++i) {
        NeededRows& of_block = needed[pieces.block[i]];
        of_block.rows += met[i];
        of_block.pieces += met[i] > 0 ? 1 : 0;
        of_block.largest = std::max(of_block.largest, met[i]);
    }
    return needed;
}

std::vector<SliceRows> rows_of_whole_slices(const Schedule& schedule, TensorId matrix, const GraphStats& graph) {
    const Grid& grid = schedule.grid;
    std::vector<SliceRows> rows(at(grid.size()));
    for (int rank = 0; rank < grid.size(); ++rank) {
        if (grid.coordinate(rank, Axis::y) != 0) continue;
        const std::vector<NeededRows> needed = needed_rows(schedule, matrix, graph, rank);
        for (int ix = 0; ix < grid.x; ++ix) {
            const int root = grid.neighbour(rank, Axis::x, ix);
            if (root == rank) continue;
            const NeededRows& block = needed[at(ix)];
            rows[at(rank)].fetched += block.rows;
            rows[at(rank)].largest = std::max(rows[at(rank)].largest, block.largest);
            rows[at(root)].served += block.rows;
            rows[at(root)].most_at_once = std::max(rows[at(root)].most_at_once, block.largest);
        }
    }
    for (int rank = 0; rank < grid.size(); ++rank) rows[at(rank)] = rows[at(grid.neighbour(rank, Axis::y, 0))];
    return rows;
}

}  // namespace gnnplan
