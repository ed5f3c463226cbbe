// Reading guide: stages_of() puts a rank's pieces in the order in which it multiplies them, beside what it sends others
// at each of these stages: each rank of a group begins with another piece, so that a link carries one piece per stage.
#include "planner/ir/dealt_blocks.hpp"
#include "planner/ir/slice.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <numeric>

namespace gnnplan {
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

// The ranks whose block is among those that `rank` is dealt get its own from it, each when it reaches it.
void serve_hand(const Grid& grid, const Tensor& matrix, int rank, std::vector<Stage>& stages) {
    const Range block = dense_rows(grid, matrix, rank);
    const int splits = matrix.storage.splits;
    const std::int64_t longest_hand = (grid.x + grid.y - 1) / grid.y;
    stages.resize(static_cast<std::size_t>(longest_hand * splits));
    const int own = grid.coordinate(rank, Axis::x);
    for (const int peer : dense_roots(grid, matrix, rank)) {
        if (peer == rank) continue;
        const int ix = grid.coordinate(peer, Axis::x);
        const std::int64_t before = turned(own - ix, hand_of(grid, peer).size());  // blocks that it takes before
        for (int i = 0; i < splits; ++i)
            stages[static_cast<std::size_t>(before * splits + i)].rows.push_back(
                {peer, balanced_block(block, i, splits)});
    }
}

}  // namespace

// Otherwise the ranks of an x-group, or all of them, have the same blocks, and each begins with another one.
std::vector<Stage> stages_of(const Grid& grid, const Tensor& matrix, int rank) {
    if (gathers_matrix(grid, matrix)) return sharded_stages(grid, matrix, rank);
    const std::vector<Piece> pieces = pieces_of(grid, matrix, rank);
    std::vector<Stage> stages(pieces.size());
    for (std::size_t k = 0; k < pieces.size(); ++k) stages[k].piece = pieces[k];
    if (block_distributed(matrix)) {
        serve_hand(grid, matrix, rank, stages);
    } else {
        serve_all(grid, matrix, rank, stages);
    }
    return stages;
}

}  // namespace gnnplan
