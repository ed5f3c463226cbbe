// The pieces that two ranks of a distributed product exchange.
#pragma once

#include "planner/ir/dealt_blocks.hpp"
#include "planner/ir/steps/peers.hpp"

#include <gnnplan/ir/config.hpp>
#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <vector>

namespace gnnplan {

// Whether these are the ranks of the x-group.
inline bool along_x_group(const Grid& grid, const Tensor& matrix) {
    return !block_distributed(matrix) && !deals_rows(matrix) && gathers_rows(grid, matrix);
}

// The other ranks that send blocks of the dense operand which `rank` reads, and that get its own.
inline std::vector<int> dense_peers(const Grid& grid, const Tensor& matrix, int rank) {
    std::vector<int> peers;
    if (along_x_group(grid, matrix)) {
        add_peers_along(grid, Axis::x, rank, peers);
        return peers;
    }
    peers = dense_roots(grid, matrix, rank);
    std::erase(peers, rank);
    std::sort(peers.begin(), peers.end());
    return peers;
}

// The pieces of `user` of which `root` holds the dense rows, or the nonzeros.
template <class Visit>
void for_pieces_between(const Grid& grid, const Tensor& matrix, int root, int user, Visit visit) {
    for (const Piece& piece : pieces_of(grid, matrix, root, user)) {
        if (!piece.columns.empty()) visit(piece);
    }
}

// Rows of a piece of the dense operand that a rank which multiplies the rows `own` of the matrix gets.
inline std::int64_t rows_sent(const GraphStats& graph, MatrixId matrix, const Piece& piece, Range own,
                              Exchange exchange) {
    return by_need(exchange) ? graph.distinct_columns(matrix, own, piece.columns) : piece.columns.size();
}

}  // namespace gnnplan
