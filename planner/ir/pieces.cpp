// Reading guide: the contraction side of a product is cut into pieces. pieces_of() lists a rank's pieces and says who
// holds their dense rows and nonzeros, by how nonzeros are shared.
#include "planner/ir/dealt_blocks.hpp"
#include "planner/ir/slice.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

// Into how many pieces a rank's products cut the block of `root`. A rank's own block is not split where each rank
// begins with its own block and has it whole.
int splits_of(const Tensor& matrix, int root, int rank) {
    return root == rank && !block_distributed(matrix) ? 1 : matrix.storage.splits;
}

// How many ranks have blocks that a product of one of them reads: of those along x, or of all, those of one group.
int root_count(const Grid& grid, const Tensor& matrix) {
    return (matrix.in_groups() ? 1 : grid.x) * (deals_rows(matrix) ? grid.y * grid.z : 1);
}

void add_equal(const EqualPieces& equal, std::vector<EqualPieces>& sizes) {
    if (equal.columns > 0 && equal.count > 0) sizes.push_back(equal);
}

// Adds equal blocks, each of which is split into so many pieces.
void add_split(const EqualPieces& blocks, std::int64_t splits, std::vector<EqualPieces>& sizes) {
    const std::int64_t shorter = blocks.columns / splits, longer = blocks.columns % splits;
    add_equal({shorter + 1, longer * blocks.count, blocks.own}, sizes);
    add_equal({shorter, (splits - longer) * blocks.count, blocks.own}, sizes);
}

// Whether `root` sends `rank` its block, or is `rank` and is dealt it.
bool sends_to_hand(const Grid& grid, int root, int rank) {
    const Range hand = hand_of(grid, rank);
    const int block = grid.coordinate(root, Axis::x);
    return block >= hand.begin && block < hand.end &&
           grid.coordinate(root, Axis::y) == hand_with(grid, grid.coordinate(rank, Axis::x));
}

// A rank exchanges blocks with partners: those that send it the blocks that it is dealt also get its own block from it.
std::vector<int> roots_of_hand(const Grid& grid, int rank) {
    const int ix = grid.coordinate(rank, Axis::x);
    const Range blocks = hand_of(grid, rank);
    std::vector<int> roots;
    for (std::int64_t k = 0; k < blocks.size(); ++k) {
        const std::int64_t block = blocks.begin + turned(ix - blocks.begin + k, blocks.size());
        roots.push_back(grid.rank_at(static_cast<int>(block), hand_with(grid, ix), 0));
    }
    return roots;
}

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

bool gathers_rows(const Grid& grid, const Tensor& matrix) { return root_count(grid, matrix) > 1; }

bool deals_rows(const Tensor& matrix) { return matrix.layout.rows.contains(Axis::y); }

std::vector<int> dense_roots(const Grid& grid, const Tensor& matrix, int rank) {
    if (block_distributed(matrix)) return roots_of_hand(grid, rank);
    const bool all = deals_rows(matrix);
    const int count = root_count(grid, matrix);
    const int own = all ? grid.block_of_rank(rank) : grid.coordinate(rank, Axis::x);
    const int first = own / count * count;
    std::vector<int> roots;
    roots.reserve(static_cast<std::size_t>(count));
    for (int k = 0; k < count; ++k) {
        const int place = first + (own - first + k) % count;
        roots.push_back(all ? grid.rank_of_block(place) : grid.neighbour(rank, Axis::x, place));
    }
    return roots;
}

std::optional<Axis> contraction_axis(const Grid& grid, const Tensor& matrix) {
    if (deals_rows(matrix)) return std::nullopt;
    const Axis axis = matrix.cut() ? Axis::x : block_distributed(matrix) ? Axis::y : Axis::z;
    return grid.extent(axis) > 1 ? std::optional(axis) : std::nullopt;
}

Axes partial_over(const Grid& grid, const Tensor& matrix) {
    const std::optional<Axis> axis = contraction_axis(grid, matrix);
    if (!axis) return {};
    return Axes::parse(*axis == Axis::x ? "x" : *axis == Axis::y ? "y" : "z");
}

Layout dense_layout(const Tensor& matrix) {
    if (deals_rows(matrix)) return layout_r();
    return block_distributed(matrix) ? layout_f() : layout_c();
}

int piece_count(const Grid& grid, const Tensor& matrix, int rank) {
    if (gathers_matrix(grid, matrix)) return static_cast<int>(pieces_of(grid, matrix, rank).size());
    if (!block_distributed(matrix)) return 1 + (root_count(grid, matrix) - 1) * matrix.storage.splits;
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
    if (block_distributed(matrix) || gathers_matrix(grid, matrix) || grid.x == 1 || matrix.in_groups()) return 1;
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
    if (block_distributed(matrix) && !sends_to_hand(grid, root, rank)) return {};
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
    for (const int root : dense_roots(grid, matrix, rank)) {
        for (const Piece& piece : pieces_of(grid, matrix, root, rank)) pieces.push_back(piece);
    }
    return pieces;
}

std::vector<EqualPieces> equal_pieces(const Grid& grid, const Tensor& matrix, int rank) {
    std::vector<EqualPieces> sizes;
    if (gathers_matrix(grid, matrix)) {
        for (const Piece& piece : pieces_of(grid, matrix, rank))
            add_equal({piece.columns.size(), 1, piece.dense_root == rank}, sizes);
        return sizes;
    }
    const bool along_x = !block_distributed(matrix) && !deals_rows(matrix) && !grid.grouped();
    if (!along_x) {
        for (const int root : dense_roots(grid, matrix, rank)) {
            const std::int64_t block = dense_rows(grid, matrix, root).size();
            add_split({block, 1, root == rank}, splits_of(matrix, root, rank), sizes);
        }
        return sizes;
    }
    const std::int64_t longer = matrix.columns % grid.x;  // so many blocks along x are, by one
    const bool own_is_longer = grid.coordinate(rank, Axis::x) < longer;
    for (const bool is_longer : {true, false}) {
        const Range block{0, matrix.columns / grid.x + (is_longer ? 1 : 0)};
        const std::int64_t dense = balanced_block(block, grid.coordinate(rank, Axis::z), grid.z).size();
        const std::int64_t own = is_longer == own_is_longer ? 1 : 0;
        add_split({dense, own, true}, 1, sizes);
        add_split({dense, (is_longer ? longer : grid.x - longer) - own, false}, matrix.storage.splits, sizes);
    }
    return sizes;
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

}  // namespace gnnplan
