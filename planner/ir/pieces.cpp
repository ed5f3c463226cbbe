// Reading guide: the contraction side of a product is cut into pieces. pieces_of() lists a rank's pieces and says who
// holds their dense rows and nonzeros, by how nonzeros are shared; stages_of() puts them in the order in which a rank
// multiplies them: each rank of a group begins with another piece, so that a link carries one piece per stage.
#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <numeric>

namespace gnnplan {
namespace {

bool block_distributed(const Tensor& matrix) {
    const Axes& columns = matrix.layout.columns;
    return columns.size() == 1 && columns[0] == Axis::y;
}

// Which of the dense operand's blocks in its x-group a rank is dealt.
Range hand_of(const Grid& grid, int rank) {
    return balanced_block({0, grid.x}, grid.coordinate(rank, Axis::y), grid.y);
}

// Into how many pieces a rank's products cut the block of `root`. A rank's own block is not split where each rank
// begins with its own block and has it whole.
int splits_of(const Tensor& matrix, int root, int rank) {
    return root == rank && !block_distributed(matrix) ? 1 : matrix.storage.splits;
}

std::int64_t turned(std::int64_t position, std::int64_t count) { return (position % count + count) % count; }

// The slice of the contraction side that the x-group of `rank` works on, where nonzeros are sharded: a block of each
// rank of the group, one after the other; by position in it, the ranks of a y-group store the nonzeros.
class Slice {
public:
    Slice(const Grid& grid, const Tensor& matrix, int rank)
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

    // Where the block of the rank at `ix` begins.
    std::int64_t position_of(std::int64_t ix) const {
        const std::int64_t of_longer = std::min(ix, longer_);
        return of_longer * length_of_longer_ + (ix - of_longer) * length_of_shorter_;
    }
    // The first block that ends behind a position.
    int block_at(std::int64_t position) const {
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
    // Positions whose nonzeros the rank at `iy` stores, and who stores those of a position.
    Range part(int iy) const { return balanced_block({0, length_}, iy, grid_.y); }
    int part_at(std::int64_t position) const {
        const std::int64_t shorter = length_ / grid_.y, longer = length_ % grid_.y;
        const std::int64_t iy = position < longer * (shorter + 1)
                                    ? position / (shorter + 1)
                                    : longer + (position - longer * (shorter + 1)) / shorter;
        return static_cast<int>(iy);
    }
    // The piece of positions within the block at `ix` and the part at `iy`.
    Piece piece(int ix, int iy) const {
        const Range here{position_of(ix), position_of(ix + 1)};
        const Range common = intersect(here, part(iy));
        const Range block = balanced_block(balanced_block({0, columns_}, ix, grid_.x), iz_, grid_.z);
        const std::int64_t shift = block.begin - here.begin;
        return {{common.begin + shift, common.end + shift},
                grid_.neighbour(rank_, Axis::x, ix),
                grid_.neighbour(rank_, Axis::y, iy)};
    }
    // Those of one rank's rows, or of one rank's nonzeros, in order.
    void add_pieces_of_rows(int ix, std::vector<Piece>& pieces) const {
        const Range here{position_of(ix), position_of(ix + 1)};
        if (here.empty()) return;
        for (int iy = part_at(here.begin); iy <= part_at(here.end - 1); ++iy) add_split(piece(ix, iy), pieces);
    }
    void add_pieces_of_nonzeros(int iy, std::vector<Piece>& pieces) const {
        const Range own = part(iy);
        if (own.empty()) return;
        for (int ix = block_at(own.begin); ix < grid_.x && position_of(ix) < own.end; ++ix)
            add_split(piece(ix, iy), pieces);
    }

private:
    // All ranks of the slice have the same pieces, of which none is empty.
    void add_split(const Piece& whole, std::vector<Piece>& pieces) const {
        const auto count = std::min<std::int64_t>(splits_, whole.columns.size());
        for (std::int64_t i = 0; i < count; ++i)
            pieces.push_back({balanced_block(whole.columns, i, count), whole.dense_root, whole.matrix_root});
    }

    const Grid& grid_;
    int rank_;
    std::int64_t columns_;
    int splits_;
    int iz_;
    std::int64_t longer_ = 0;  // how many blocks are
    std::int64_t length_of_longer_ = 0, length_of_shorter_ = 0;
    std::int64_t length_ = 0;
};

}  // namespace

std::size_t first_piece(const Grid& grid, std::size_t pieces, int rank) {
    const auto staggered = [&](Axis axis) {
        return pieces * static_cast<std::size_t>(grid.coordinate(rank, axis)) /
               static_cast<std::size_t>(grid.extent(axis));
    };
    return pieces == 0 ? 0 : (staggered(Axis::x) + staggered(Axis::y)) % pieces;
}

bool gathers_matrix(const Grid& grid, const Tensor& matrix) {
    return grid.y > 1 && matrix.layout.columns.contains(Axis::y) && !block_distributed(matrix);
}

bool gathers_rows(const Grid& grid, const Tensor& matrix) { return (deals_rows(matrix) ? grid.size() : grid.x) > 1; }

bool deals_rows(const Tensor& matrix) { return matrix.layout.rows.contains(Axis::y); }

std::vector<int> dense_roots(const Grid& grid, const Tensor& matrix, int rank) {
    const bool all = deals_rows(matrix);
    const int count = all ? grid.size() : grid.x;
    const int own = all ? rank : grid.coordinate(rank, Axis::x);
    std::vector<int> roots;
    roots.reserve(static_cast<std::size_t>(count));
    for (int k = 0; k < count; ++k) {
        const int place = (own + k) % count;
        roots.push_back(all ? place : grid.neighbour(rank, Axis::x, place));
    }
    return roots;
}

std::optional<Axis> contraction_axis(const Grid& grid, const Tensor& matrix) {
    if (deals_rows(matrix)) return std::nullopt;
    const Axis axis = block_distributed(matrix) ? Axis::y : Axis::z;
    return grid.extent(axis) > 1 ? std::optional(axis) : std::nullopt;
}

Layout dense_layout(const Tensor& matrix) {
    if (deals_rows(matrix)) return layout_r();
    return block_distributed(matrix) ? layout_f() : layout_c();
}

int piece_count(const Grid& grid, const Tensor& matrix, int rank) {
    if (gathers_matrix(grid, matrix)) return static_cast<int>(pieces_of(grid, matrix, rank).size());
    if (!block_distributed(matrix))
        return 1 + ((deals_rows(matrix) ? grid.size() : grid.x) - 1) * matrix.storage.splits;
    return static_cast<int>(hand_of(grid, rank).size()) * matrix.storage.splits;
}

int most_splits(const Grid& grid) {
    constexpr int most = 4096, most_pieces = 1 << 20;
    return std::min(most, most_pieces / grid.size());
}

Range matrix_rows(const Grid& grid, const Tensor& matrix, int rank) {
    return split_block(matrix.rows, matrix.layout.rows, grid, rank);
}

Range dense_rows(const Grid& grid, const Tensor& matrix, int rank) {
    return split_block(matrix.columns, dense_layout(matrix).rows, grid, rank);
}

int splits_for_overlap(const Grid& grid, const Tensor& matrix) {
    constexpr int pipeline = 8;  // pieces of others: the last one's product, an eighth, has nothing to hide behind
    if (block_distributed(matrix) || gathers_matrix(grid, matrix) || grid.x == 1) return 1;
    return std::max(1, (pipeline + grid.x - 2) / (grid.x - 1));
}

std::vector<Piece> pieces_of(const Grid& grid, const Tensor& matrix, int root, int rank) {
    if (gathers_matrix(grid, matrix)) {
        std::vector<Piece> pieces;
        const Slice slice(grid, matrix, rank);
        const bool has_rows = grid.coordinate(root, Axis::y) == grid.coordinate(rank, Axis::y);
        if (has_rows) {
            slice.add_pieces_of_rows(grid.coordinate(root, Axis::x), pieces);
        } else {
            slice.add_pieces_of_nonzeros(grid.coordinate(root, Axis::y), pieces);
        }
        return pieces;
    }
    const int of = grid.coordinate(root, Axis::x);
    const Range hand = hand_of(grid, rank);
    if (block_distributed(matrix) && (of < hand.begin || of >= hand.end)) return {};
    const Range block = dense_rows(grid, matrix, root);
    const int splits = splits_of(matrix, root, rank);
    std::vector<Piece> pieces;
    pieces.reserve(static_cast<std::size_t>(splits));
    for (int i = 0; i < splits; ++i) pieces.push_back({balanced_block(block, i, splits), root, rank});
    return pieces;
}

std::vector<Piece> pieces_of(const Grid& grid, const Tensor& matrix, int rank) {
    std::vector<Piece> pieces;
    if (gathers_matrix(grid, matrix)) {
        const Slice slice(grid, matrix, rank);
        for (int block = 0; block < grid.x; ++block) slice.add_pieces_of_rows(block, pieces);
        const auto first = static_cast<std::ptrdiff_t>(first_piece(grid, pieces.size(), rank));
        std::rotate(pieces.begin(), pieces.begin() + first, pieces.end());
        return pieces;
    }
    if (!block_distributed(matrix)) {
        for (const int root : dense_roots(grid, matrix, rank)) {
            for (const Piece& piece : pieces_of(grid, matrix, root, rank)) pieces.push_back(piece);
        }
        return pieces;
    }
    const int ix = grid.coordinate(rank, Axis::x);
    const Range blocks = hand_of(grid, rank);
    for (std::int64_t k = 0; k < blocks.size(); ++k) {
        const std::int64_t block = blocks.begin + turned(ix - blocks.begin + k, blocks.size());
        const int root = grid.neighbour(rank, Axis::x, static_cast<int>(block));
        for (const Piece& piece : pieces_of(grid, matrix, root, rank)) pieces.push_back(piece);
    }
    return pieces;
}

std::int64_t panel_count(std::int64_t columns, std::int64_t panel_columns) {
    if (panel_columns == 0) return 1;
    return std::max<std::int64_t>(1, (columns + panel_columns - 1) / panel_columns);
}

std::int64_t sparse_bytes(const Blocking& blocking, const Tensor& matrix, Range rows, Range columns,
                          std::int64_t nonzeros) {
    const std::int64_t panels = panel_count(columns.size(), matrix.storage.panel_columns);
    const std::int64_t row_starts = (rows.size() + 1) * panels;
    return row_start_bytes(blocking, nonzeros) * row_starts + (matrix.storage.factored ? 4 : 8) * nonzeros;
}

namespace {

// Where nonzeros are sharded all ranks of a slice have the same pieces, and each begins with another one: a rank serves
// the pieces of its own rows, or nonzeros, at the stages at which others come to them.
std::vector<Stage> sharded_stages(const Grid& grid, const Tensor& matrix, int rank) {
    const Slice slice(grid, matrix, rank);
    std::vector<Piece> pieces;  // in the order of their positions
    std::vector<std::size_t> first_of_rows, first_of_nonzeros(static_cast<std::size_t>(grid.y) + 1, 0);
    for (int ix = 0; ix < grid.x; ++ix) {
        first_of_rows.push_back(pieces.size());
        slice.add_pieces_of_rows(ix, pieces);
    }
    first_of_rows.push_back(pieces.size());
    for (const Piece& piece : pieces)
        ++first_of_nonzeros[static_cast<std::size_t>(grid.coordinate(piece.matrix_root, Axis::y)) + 1];
    std::partial_sum(first_of_nonzeros.begin(), first_of_nonzeros.end(), first_of_nonzeros.begin());
    std::vector<Stage> stages(pieces.size());
    const auto stage = [&](int peer, std::size_t piece) -> Stage& {
        const std::size_t first = first_piece(grid, pieces.size(), peer);
        return stages[(piece + pieces.size() - first) % pieces.size()];
    };
    for (std::size_t i = 0; i < pieces.size(); ++i) stage(rank, i).piece = pieces[i];
    const auto x = static_cast<std::size_t>(grid.coordinate(rank, Axis::x));
    const auto y = static_cast<std::size_t>(grid.coordinate(rank, Axis::y));
    for (int ix = 0; ix < grid.x; ++ix) {
        const int peer = grid.neighbour(rank, Axis::x, ix);
        for (std::size_t i = first_of_rows[x]; peer != rank && i < first_of_rows[x + 1]; ++i)
            stage(peer, i).rows.push_back({peer, pieces[i].columns});
    }
    for (int iy = 0; iy < grid.y; ++iy) {
        const int peer = grid.neighbour(rank, Axis::y, iy);
        for (std::size_t i = first_of_nonzeros[y]; peer != rank && i < first_of_nonzeros[y + 1]; ++i)
            stage(peer, i).nonzeros.push_back({peer, pieces[i].columns});
    }
    return stages;
}

// Each rank has all blocks of the dense operand. Peer r starts at its own block, so it reaches this rank's block after
// (own - r) mod P stages. A rank's own block, with which it begins, is not split.
void serve_all(const Grid& grid, const Tensor& matrix, int rank, std::vector<Stage>& stages) {
    const Range block = dense_rows(grid, matrix, rank);
    const std::vector<int> roots = dense_roots(grid, matrix, rank);
    const int splits = matrix.storage.splits;
    for (std::size_t ahead = 1; ahead < roots.size(); ++ahead) {
        const std::size_t turn = roots.size() - ahead;
        const std::size_t first = 1 + (turn - 1) * static_cast<std::size_t>(splits);
        for (int i = 0; i < splits; ++i)
            stages[first + static_cast<std::size_t>(i)].rows.push_back(
                {roots[ahead], balanced_block(block, i, splits)});
    }
}

}  // namespace

// Otherwise the ranks of an x-group, or all of them, have the same blocks, and each begins with another one.
std::vector<Stage> stages_of(const Grid& grid, const Tensor& matrix, int rank) {
    if (gathers_matrix(grid, matrix)) return sharded_stages(grid, matrix, rank);
    const std::vector<Piece> pieces = pieces_of(grid, matrix, rank);
    std::vector<Stage> stages(pieces.size());
    for (std::size_t k = 0; k < pieces.size(); ++k) stages[k].piece = pieces[k];
    if (!block_distributed(matrix)) {
        serve_all(grid, matrix, rank, stages);
        return stages;
    }
    const Range blocks = hand_of(grid, rank);
    const int own = grid.coordinate(rank, Axis::x);
    if (own < blocks.begin || own >= blocks.end) return stages;
    const Range block = dense_rows(grid, matrix, rank);
    const int splits = matrix.storage.splits;
    for (int ix = 0; ix < grid.x; ++ix) {
        if (ix == own) continue;
        const int peer = grid.neighbour(rank, Axis::x, ix);
        const std::int64_t before = turned(own - ix, blocks.size());  // blocks that the peer takes before this one
        for (int i = 0; i < splits; ++i)
            stages[static_cast<std::size_t>(before * splits + i)].rows.push_back(
                {peer, balanced_block(block, i, splits)});
    }
    return stages;
}

}  // namespace gnnplan
