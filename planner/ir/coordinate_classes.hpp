// Coordinates along an axis of a grid are alike where their blocks have the same size: balanced splits have two sizes.
#pragma once

#include <gnnplan/ir/schedule.hpp>

#include <cstdint>
#include <set>
#include <vector>

namespace gnnplan {

using Sizes = std::set<std::int64_t>;

// Marks besides sizes that tell coordinates of an axis apart: a list of numbers for each; none for any.
using Marks = std::vector<std::vector<std::int64_t>>;

// Coordinates at which the sizes of blocks, or those of left neighbours, change: all between two of them are alike.
std::set<std::int64_t> changes(const Sizes& wholes, int extent, bool neighbours);

// The class of each coordinate of an axis that splits `wholes`.
std::vector<int> coordinate_classes(const Sizes& wholes, int extent, bool neighbours, const Marks& marks);

// The blocks that CAGNET's 1.5D deals to the ranks of each coordinate along y: classes of how many, and of how many
// rows.
std::vector<int> hand_classes(const Sizes& rows, const Grid& grid);

// The class of the hands that a rank's own block is sent to, of `hands` by coordinates along y; -1 where it is dealt
// the block itself.
int served_hands(const Grid& grid, const std::vector<int>& hands, int ix, int iy);

// The class of each rank by how its columns of matrices of these widths, split over all ranks, lie to those that are
// split over its y-group: how many are in both, and whether either block is within one of the other split.
std::vector<int> overlap_classes(const Sizes& widths, const Grid& grid);

// How many pieces of a product the block of each coordinate along x is, or the nonzeros that each along y stores: with
// the sizes of blocks all that the messages of a rank depend on, but for what distinct columns differ by.
Marks piece_counts(const Grid& grid, const std::vector<const Tensor*>& gathered, Axis axis);

// Every coordinate apart.
Marks distinct(int extent);

}  // namespace gnnplan
