// The slice of the contraction side that an x-group works on, where nonzeros are sharded.
#pragma once

#include <gnnplan/ir/pieces.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan {

// The slice of the x-group of `rank`: a block of each rank of the group, one after the other; by position in it, the
// ranks of a y-group store the nonzeros.
class Slice {
public:
    // The grid outlives the object.
    Slice(const Grid& grid, const Tensor& matrix, int rank);

    // The pieces of one rank's rows, or of one rank's nonzeros, in order, behind those that are there.
    void add_pieces_of_rows(int ix, std::vector<Piece>& pieces) const;
    void add_pieces_of_nonzeros(int iy, std::vector<Piece>& pieces) const;

private:
    // Where the block of the rank at `ix` begins, and the first block that ends behind a position.
    std::int64_t position_of(std::int64_t ix) const;
    int block_at(std::int64_t position) const;
    // Positions whose nonzeros the rank at `iy` stores, and who stores those of a position.
    Range part(int iy) const;
    int part_at(std::int64_t position) const;
    // The piece of positions within the block at `ix` and the part at `iy`.
    Piece piece(int ix, int iy) const;
    void add_split(const Piece& whole, std::vector<Piece>& pieces) const;

    const Grid& grid_;
    int rank_;
    std::int64_t columns_;
    int splits_;
    int iz_;
    std::int64_t longer_ = 0;  // how many blocks are
    std::int64_t length_of_longer_ = 0, length_of_shorter_ = 0;
    std::int64_t length_ = 0;
};

}  // namespace gnnplan
