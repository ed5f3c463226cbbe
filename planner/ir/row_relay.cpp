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

std::vector<int> RowRelay::near(int rank, int direction) const {
    const Grid& grid = schedule_.grid;
    std::vector<int> ranks;
    for (int ix = coordinate(rank) + direction; ix >= 0 && ix < grid.x; ix += direction) {
        const int other = grid.neighbour(rank, Axis::x, ix);
        if (!on_one_node(rank, other)) break;
        ranks.push_back(other);
    }
    return ranks;
}

bool RowRelay::passed(int rank, const Piece& piece) const {
    return !on_one_node(rank, piece.dense_root) && !from(rank).empty();
}

std::size_t RowRelay::first_stage(int rank, int root) const {
    const std::int64_t away = turned(coordinate(root) - coordinate(rank), schedule_.grid.x);
    return away == 0 ? 0 : static_cast<std::size_t>(1 + (away - 1) * matrix_.storage.splits);
}

std::size_t RowRelay::behind(int from, int to) const {
    const std::int64_t away = coordinate(from) - coordinate(to);
    return static_cast<std::size_t>(away * matrix_.storage.splits);
}

// What is received at a stage lies there until it has been packed for the last time; by then as many pieces more are on
// their way as the product has room for in any case.
int RowRelay::kept(int rank, bool overlap) const {
    const std::vector<int> served = to(rank);
    if (served.empty()) return 0;
    const int on_their_way = overlap ? matrix_.storage.pieces_ahead() : 0;
    return std::max(0, static_cast<int>(behind(rank, served.back())) - on_their_way);
}

bool RowRelay::passes_on(int from, int to) const {
    const Grid& grid = schedule_.grid;
    return on_one_node(from, to) && coordinate(from) > coordinate(to) &&
           grid.neighbour(to, Axis::x, coordinate(from)) == from;
}

std::int64_t RowRelay::by_next(const GraphStats& graph, int rank, int next, const Piece& piece) const {
    std::vector<int> before = to(rank);
    std::vector<Range> rows;
    for (auto peer = before.rbegin(); peer != before.rend(); ++peer)
        rows.push_back(matrix_rows(schedule_.grid, matrix_, *peer));
    rows.push_back(matrix_rows(schedule_.grid, matrix_, rank));
    for (const int peer : from(rank)) rows.push_back(matrix_rows(schedule_.grid, matrix_, peer));
    const std::size_t own = before.size();
    const auto other = own + static_cast<std::size_t>(coordinate(next) - coordinate(rank));
    return graph.columns_by_next(matrix_.matrix(), rows, piece.columns)[own * rows.size() + other];
}

std::int64_t RowRelay::straight(const GraphStats& graph, int to, const Piece& piece) const {
    if (passed(to, piece)) return by_next(graph, to, to, piece);
    return graph.distinct_columns(matrix_.matrix(), matrix_rows(schedule_.grid, matrix_, to), piece.columns);
}

std::int64_t RowRelay::passed(const GraphStats& graph, int from, int to, const Piece& piece) const {
    return passes_on(from, to) && passed(to, piece) ? by_next(graph, to, from, piece) : 0;
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
