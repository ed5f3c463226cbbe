#include "planner/ir/dealt_blocks.hpp"

#include <gnnplan/ir/row_relay.hpp>

#include <algorithm>

namespace gnnplan {

bool relays_rows(const Grid& grid, const Tensor& matrix) {
    return gathers_rows(grid, matrix) && !gathers_matrix(grid, matrix) && !block_distributed(matrix) &&
           !deals_rows(matrix) && !matrix.cut();
}

bool relays_rows(const Schedule& schedule) {
    return std::any_of(schedule.steps.begin(), schedule.steps.end(), [](const Step& step) {
        const auto* request = std::get_if<RowRequestStep>(&step.operation);
        return request != nullptr && request->relayed;
    });
}

std::vector<int> RowRelay::from(int rank) const {
    std::vector<int> ranks;
    const int after = near(rank).after;
    for (int away = 1; away <= after; ++away) ranks.push_back(along(rank, away));
    return ranks;
}

std::vector<int> RowRelay::to(int rank) const {
    std::vector<int> ranks;
    const int before = near(rank).before;
    for (int away = 1; away <= before; ++away) ranks.push_back(along(rank, -away));
    return ranks;
}

bool RowRelay::is_passed_on(int rank, const Piece& piece) const {
    return !on_one_node(rank, piece.dense_root) && near(rank).after > 0;
}

std::size_t RowRelay::first_stage(int rank, int root) const {
    const std::int64_t away = turned(coordinate(root) - coordinate(rank), schedule_.grid.x);
    return away == 0 ? 0 : static_cast<std::size_t>(1 + (away - 1) * matrix_.storage.splits);
}

std::size_t RowRelay::behind(int from, int to) const {
    const std::int64_t away = coordinate(from) - coordinate(to);
    return static_cast<std::size_t>(away * matrix_.storage.splits);
}

// A piece lies where it was received until its rows have been packed for the last rank; by then as many pieces more are
// on their way as the product has room for in any case.
int RowRelay::kept(int rank, bool overlap) const {
    const int farthest = near(rank).before;
    const int on_their_way = overlap ? matrix_.storage.pieces_ahead() : 0;
    return std::max(0, static_cast<int>(behind(rank, along(rank, -farthest))) - on_their_way);
}

bool RowRelay::passes_on(int from, int to) const {
    const int away = coordinate(from) - coordinate(to);
    return away > 0 && away <= near(to).after && along(to, away) == from;
}

std::int64_t RowRelay::by_next(const GraphStats& graph, int rank, int next, const Piece& piece) const {
    const auto [before, after] = near(rank);
    std::vector<Range> rows;
    for (int away = -before; away <= after; ++away)
        rows.push_back(matrix_rows(schedule_.grid, matrix_, along(rank, away)));
    const auto own = static_cast<std::size_t>(before);
    const auto other = own + static_cast<std::size_t>(coordinate(next) - coordinate(rank));
    return graph.columns_by_next(matrix_.matrix(), rows, piece.columns)[own * rows.size() + other];
}

std::int64_t RowRelay::straight(const GraphStats& graph, int to, const Piece& piece) const {
    if (is_passed_on(to, piece)) return by_next(graph, to, to, piece);
    return graph.distinct_columns(matrix_.matrix(), matrix_rows(schedule_.grid, matrix_, to), piece.columns);
}

std::int64_t RowRelay::passed(const GraphStats& graph, int from, int to, const Piece& piece) const {
    return passes_on(from, to) && is_passed_on(to, piece) ? by_next(graph, to, from, piece) : 0;
}

SentRows RowRelay::passed(const GraphStats& graph, int from, int to) const {
    SentRows rows;
    if (!passes_on(from, to)) return rows;
    for (const Piece& piece : pieces_of(schedule_.grid, matrix_, to)) rows.add(passed(graph, from, to, piece));
    return rows;
}

SentRows RowRelay::sent(const GraphStats& graph, int from, int to) const {
    SentRows rows = passed(graph, from, to);
    for (const Piece& piece : pieces_of(schedule_.grid, matrix_, from, to)) {
        if (piece.dense_root == from) rows.add(straight(graph, to, piece));
    }
    return rows;
}

}  // namespace gnnplan
