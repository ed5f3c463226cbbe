// Relayed rows (Exchange::relayed_rows): needed rows that enter a node once.
//
// Ranks of a node follow each other along x, and each comes to a piece of another node some stages after those further
// along (pieces.hpp). Of the rows of such a piece that it needs, a rank gets each from the nearest of them that needs
// it, too, which has got it before; only rows that none of them needs come straight from the rank that holds them.
// Pieces of ranks of its own node come straight. So a row enters a node once, at the last of its ranks that needs it,
// and travels once to each rank that lacks it, as it does without: bytes in all are the same.
//
// A rank has the rows of such a piece in the order in which they come: those that come straight, then those of the
// nearest rank, and so on, each ascending.
#pragma once

#include <gnnplan/ir/graph_stats.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <cstdint>
#include <vector>

namespace gnnplan {

// Whether the rows that products with the matrix need can be relayed: every rank of an x-group has its pieces in the
// same order, each behind the next rank's.
bool relays_rows(const Grid& grid, const Tensor& matrix);
// Whether a schedule relays any: its ranks then find out from the whole graph which rows they share.
bool relays_rows(const Schedule& schedule);

// Rows of one column operand, in so many messages.
struct SentRows {
    std::int64_t rows = 0;
    std::int64_t messages = 0;

    void add(std::int64_t more) {
        rows += more;
        messages += more > 0 ? 1 : 0;
    }
    void add(const SentRows& more) { rows += more.rows, messages += more.messages; }
};

class RowRelay {
public:
    // The matrix is one whose rows are relayed; both outlive the object.
    RowRelay(const Schedule& schedule, const Tensor& matrix) : schedule_(schedule), matrix_(matrix) {}

    // The ranks that pass rows on to `rank`, and those that it passes rows on to; the nearest first.
    std::vector<int> from(int rank) const;
    std::vector<int> to(int rank) const;
    // Whether ranks of the node of `rank` pass rows of a piece on to it.
    bool is_passed_on(int rank, const Piece& piece) const;
    // The stage at which a rank comes to the pieces of another one.
    std::size_t first_stage(int rank, int root) const;
    // How many stages before `to` the rank `from` comes to the same piece.
    std::size_t behind(int from, int to) const;
    // For how many pieces a rank has room besides those that are multiplied or on their way: those that it has got and
    // not passed on yet.
    int kept(int rank, bool overlap) const;

    // Rows of a piece that `to` needs and gets straight from the rank that holds them, and those that `from` passes on
    // to it.
    std::int64_t straight(const GraphStats& graph, int to, const Piece& piece) const;
    std::int64_t passed(const GraphStats& graph, int from, int to, const Piece& piece) const;
    // All rows that `from` passes on to `to`, and all that it sends to it.
    SentRows passed(const GraphStats& graph, int from, int to) const;
    SentRows sent(const GraphStats& graph, int from, int to) const;

private:
    NearRanks near(int rank) const { return near_along(schedule_.grid, schedule_.ranks_per_node, rank, Axis::x); }
    // The rank so many coordinates further along x.
    int along(int rank, int away) const { return schedule_.grid.neighbour(rank, Axis::x, coordinate(rank) + away); }
    bool on_one_node(int a, int b) const { return a / schedule_.ranks_per_node == b / schedule_.ranks_per_node; }
    int coordinate(int rank) const { return schedule_.grid.coordinate(rank, Axis::x); }
    // Whether `from` may pass rows on to `to`.
    bool passes_on(int from, int to) const;
    // Rows of a piece that `rank` needs, and `next` is the nearest rank further along that does, too; with the rank
    // itself for `next`, those that none of these needs.
    std::int64_t by_next(const GraphStats& graph, int rank, int next, const Piece& piece) const;

    const Schedule& schedule_;
    const Tensor& matrix_;
};

}  // namespace gnnplan
