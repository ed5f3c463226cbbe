// The blocks of a dense operand that are dealt to the ranks of a y-group (CAGNET's 1.5D).
#pragma once

#include <gnnplan/ir/schedule.hpp>

#include <cstdint>

namespace gnnplan {

// Whether products with the matrix have their blocks dealt: the contraction side is split over y alone.
inline bool block_distributed(const Tensor& matrix) {
    const Axes& columns = matrix.layout.columns;
    return columns.size() == 1 && columns[0] == Axis::y;
}

// Returns the blocks of the dense operand that a rank is dealt, as a range of coordinates in its x-group.
inline Range hand_of(const Grid& grid, int rank) {
    return balanced_block({0, grid.x}, grid.coordinate(rank, Axis::y), grid.y);
}

// The coordinate along y of the ranks that are dealt the block at `ix`. Of the ranks of a y-group, which all hold the
// group's block, the one at that coordinate of the receiver's block sends it to the receiver: each serves the receivers
// whose blocks it is dealt, so that they share the sending evenly.
inline int hand_with(const Grid& grid, int ix) {
    const int shorter = grid.x / grid.y, longer = grid.x % grid.y;  // hands, of which the longer ones come first
    const int in_longer = longer * (shorter + 1);
    return ix < in_longer ? ix / (shorter + 1) : longer + (ix - in_longer) / shorter;
}

// A position on a ring of so many.
inline std::int64_t turned(std::int64_t position, std::int64_t count) { return (position % count + count) % count; }

}  // namespace gnnplan
