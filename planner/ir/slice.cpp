#include "planner/ir/slice.hpp"

#include <algorithm>

namespace gnnplan {

Slice::Slice(const Grid& grid, const Tensor& matrix, int rank)
    : grid_(grid),
      rank_(rank),
      columns_(matrix.columns),
      splits_(matrix.storage.splits),
      iz_(grid.coordinate(rank, Axis::z)) {
    // The first blocks along x are longer by one than the others, so their parts along z have two lengths.
    const std::int64_t shorter = columns_ / grid.x;
    longer_ = columns_ % grid.x;
    length_of_longer_ = balanced_block({0, shorter + 1}, iz_, grid.z).size();
    length_of_shorter_ = balanced_block({0, shorter}, iz_, grid.z).size();
    length_ = position_of(grid.x);
}

std::int64_t Slice::position_of(std::int64_t ix) const {
    const std::int64_t of_longer = std::min(ix, longer_);
    return of_longer * length_of_longer_ + (ix - of_longer) * length_of_shorter_;
}

int Slice::block_at(std::int64_t position) const {
    int ix = 0;
    for (int end = grid_.x; ix < end;) {
        const int middle = (ix + end) / 2;
        if (position_of(middle + 1) > position) {
            end = middle;
        } else {
            ix = middle + 1;
        }
    }
    return ix;
}

Range Slice::part(int iy) const { return balanced_block({0, length_}, iy, grid_.y); }

int Slice::part_at(std::int64_t position) const {
    const std::int64_t shorter = length_ / grid_.y, longer = length_ % grid_.y;
    const std::int64_t iy = position < longer * (shorter + 1) ? position / (shorter + 1)
                                                              : longer + (position - longer * (shorter + 1)) / shorter;
    return static_cast<int>(iy);
}

Piece Slice::piece(int ix, int iy) const {
    const Range here{position_of(ix), position_of(ix + 1)};
    const Range common = intersect(here, part(iy));
    const Range block = balanced_block(balanced_block({0, columns_}, ix, grid_.x), iz_, grid_.z);
    const std::int64_t shift = block.begin - here.begin;
    return {{common.begin + shift, common.end + shift},
            grid_.neighbour(rank_, Axis::x, ix),
            grid_.neighbour(rank_, Axis::y, iy)};
}

void Slice::add_pieces_of_rows(int ix, std::vector<Piece>& pieces) const {
    const Range here{position_of(ix), position_of(ix + 1)};
    if (here.empty()) return;
    for (int iy = part_at(here.begin); iy <= part_at(here.end - 1); ++iy) add_split(piece(ix, iy), pieces);
}

void Slice::add_pieces_of_nonzeros(int iy, std::vector<Piece>& pieces) const {
    const Range own = part(iy);
    if (own.empty()) return;
    for (int ix = block_at(own.begin); ix < grid_.x && position_of(ix) < own.end; ++ix)
        add_split(piece(ix, iy), pieces);
}

// All ranks of the slice have the same pieces, of which none is empty.
void Slice::add_split(const Piece& whole, std::vector<Piece>& pieces) const {
    const auto count = std::min<std::int64_t>(splits_, whole.columns.size());
    for (std::int64_t i = 0; i < count; ++i)
        pieces.push_back({balanced_block(whole.columns, i, count), whole.dense_root, whole.matrix_root});
}

}  // namespace gnnplan
