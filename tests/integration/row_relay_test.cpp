// Relayed rows against sets of vertices that are found one nonzero at a time: which rows each rank gets, and of whom.
#include "planner/cost/level_traffic.hpp"
#include "planner/cost/ranks.hpp"
#include "tests/integration/full_space_runs.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/row_relay.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace gnnplan::testing {
namespace {

std::vector<TinyGraph> graphs() {
    return {random_directed(41, 6, 8, 3, 14), random_symmetric(24, 5, 8, 4, 2), star(13, 9, 3, 4),
            directed_path(9, 3, 2, 3), no_edges(11, 6, 3, 12)};
}

// A 1D product or, with y ranks for each, one of RDM.
struct Case {
    Grid grid;
    int ranks_per_node;
    Exchange exchange;
    int splits;
    bool overlap;

    std::string text() const {
        return fmt::format("{}, {} ranks on a node, {} pieces{}", grid.text(), ranks_per_node, splits,
                           overlap ? " that overlap" : "");
    }
};

Schedule schedule_of(const Case& on, const GraphStats& graph, bool transposed) {
    constexpr std::int64_t width = 6;
    const std::int64_t vertices = graph.vertices();
    Tensor matrix{"A", Role::adjacency, DType::f32, vertices, vertices, {Axes::parse("x"), Axes::parse("z"), {}}};
    matrix.transposed = transposed;
    matrix.storage.splits = on.splits;
    const bool relayed = on.exchange == Exchange::relayed_rows;
    Schedule s{on.grid,
               {},
               {matrix,
                {"H", Role::features, DType::f32, vertices, width, layout_c()},
                {"T", Role::transient, DType::f32, vertices, width, {Axes::parse("x"), layout_c().columns, {}}}},
               {{"index", Phase::setup, RowRequestStep{0, false, relayed}},
                {"spmm", Phase::epoch, SpmmStep{0, {1}, {2}, on.exchange, on.overlap}}}};
    s.ranks_per_node = on.ranks_per_node;
    return s;
}

// The rows that a rank's nonzeros meet.
std::set<std::int64_t> needed_by(const data::Graph& graph, const Schedule& s, int rank) {
    const Tensor& matrix = s.tensors.front();
    const Range rows = matrix_rows(s.grid, matrix, rank);
    const data::Csr& nonzeros = graph.matrix(matrix.matrix());
    std::set<std::int64_t> needed;
    for (std::int64_t v = rows.begin; v < rows.end; ++v) {
        for (auto e = nonzeros.row_start[static_cast<std::size_t>(v)];
             e < nonzeros.row_start[static_cast<std::size_t>(v + 1)]; ++e)
            needed.insert(nonzeros.column[static_cast<std::size_t>(e)]);
    }
    return needed;
}

class Walk {
public:
    Walk(const data::Graph& graph, const Schedule& s) : s_(s) {
        for (int rank = 0; rank < s.grid.size(); ++rank) needed_.push_back(needed_by(graph, s, rank));
        for (int rank = 0; rank < s.grid.size(); ++rank) {
            for (const Piece& piece : pieces_of(s.grid, s.tensors.front(), rank)) {
                for (std::int64_t row = piece.columns.begin; row < piece.columns.end; ++row) {
                    if (piece.dense_root == rank || !needs(rank, row)) continue;
                    const int source = source_of(rank, row, piece.dense_root);
                    rows_[{source, rank}].insert(row);
                    if (node(source) != node(rank)) ++entered_[{node(rank), s.grid.coordinate(rank, Axis::y), row}];
                }
            }
        }
    }

    std::int64_t rows(int from, int to) const {
        const auto found = rows_.find({from, to});
        return found == rows_.end() ? 0 : std::ssize(found->second);
    }
    // How often any row enters a node for the ranks of one coordinate along y.
    int most_entries() const {
        int most = 0;
        for (const auto& [row, times] : entered_) most = std::max(most, times);
        return most;
    }

private:
    int node(int rank) const { return rank / s_.ranks_per_node; }
    bool needs(int rank, std::int64_t row) const { return needed_[static_cast<std::size_t>(rank)].contains(row); }
    // The nearest rank of the node, further along x, that needs the row; the holder where there is none, or where that
    // is on the node itself.
    int source_of(int rank, std::int64_t row, int holder) const {
        if (node(holder) == node(rank)) return holder;
        for (int ix = s_.grid.coordinate(rank, Axis::x) + 1; ix < s_.grid.x; ++ix) {
            const int other = s_.grid.neighbour(rank, Axis::x, ix);
            if (node(other) == node(rank) && needs(other, row)) return other;
        }
        return holder;
    }

    const Schedule& s_;
    std::vector<std::set<std::int64_t>> needed_;  // by rank
    std::map<std::pair<int, int>, std::set<std::int64_t>> rows_;
    std::map<std::tuple<int, int, std::int64_t>, int> entered_;
};

// The cost model takes a rank to exchange exactly its messages over each level of links.
void expect_levels(const Schedule& s, const Step& step, const GraphStats& graph) {
    Machine machine = test_machine();
    machine.ranks_per_node = s.ranks_per_node;
    cost::RanksOfSteps ranks(cost::ranks_to_cost(s, graph, machine), machine);
    const cost::CostedRanks& on = ranks.of(s, step, graph);
    const StepMessages messages(s, step, graph);
    for (const int rank : on.ranks) {
        cost::RankLevels expected;
        for (const int peer : messages.peers(rank)) {
            const bool near = peer / s.ranks_per_node == rank / s.ranks_per_node;
            cost::LevelTraffic& level = expected[near ? cost::within_node : cost::between_nodes];
            const Message sent = messages.between(rank, peer), received = messages.between(peer, rank);
            level.sent_bytes += sent.bytes, level.sent_messages += sent.count;
            level.received_bytes += received.bytes, level.received_messages += received.count;
        }
        const cost::RankLevels found = cost::traffic_by_level(s, step.operation, messages, machine, on, rank);
        for (const cost::Level level : {cost::within_node, cost::between_nodes}) {
            EXPECT_EQ(found[level].sent_bytes, expected[level].sent_bytes);
            EXPECT_EQ(found[level].received_bytes, expected[level].received_bytes);
            EXPECT_EQ(found[level].sent_messages, expected[level].sent_messages);
            EXPECT_EQ(found[level].received_messages, expected[level].received_messages);
        }
    }
}

// Counted column by column, and from unions of the ranges.
void expect_next(const Schedule& s, const GraphStats& graph) {
    const Tensor& matrix = s.tensors.front();
    std::vector<Range> rows;
    rows.reserve(static_cast<std::size_t>(s.grid.x));
    for (int ix = 0; ix < s.grid.x; ++ix) rows.push_back(matrix_rows(s.grid, matrix, s.grid.rank_at(ix, 0, 0)));
    for (const Piece& piece : pieces_of(s.grid, matrix, 0)) {
        EXPECT_EQ(graph.columns_by_next(matrix.matrix(), rows, piece.columns),
                  graph.GraphStats::columns_by_next(matrix.matrix(), rows, piece.columns));
    }
}

std::vector<Case> cases() {
    std::vector<Case> all;
    int turn = 0;
    for (const Grid& grid :
         {Grid{4, 1, 1}, Grid{6, 1, 1}, Grid{12, 1, 1}, Grid{4, 2, 1}, Grid{12, 2, 1}, Grid{4, 1, 2}}) {
        for (const int per_node : {1, 2, 3, 4, 6, 12}) {
            ++turn;
            all.push_back({grid, per_node, Exchange::relayed_rows, 1 + turn % 3, turn % 2 == 0});
        }
    }
    return all;
}

TEST(RelayedRows, ComeFromTheNearestRankThatNeedsThemToo) {
    std::int64_t passed = 0;
    for (const TinyGraph& tiny : graphs()) {
        const TestProblem problem(tiny, {{6}, true, 0, 0});
        const data::Graph& graph = problem.dataset().graph();
        const exec::GraphCounts counts(graph, problem.dataset().subset());
        for (const Case& on : cases()) {
            SCOPED_TRACE(tiny.name + ", " + on.text());
            Case as_rows = on;
            as_rows.exchange = Exchange::rows;
            const Schedule relayed = schedule_of(on, counts, true), straight = schedule_of(as_rows, counts, true);
            const Walk walk(graph, relayed);
            EXPECT_LE(walk.most_entries(), on.grid.z == 1 ? 1 : 2) << "a row enters a node once";
            const Step& spmm = relayed.steps.back();
            const StepMessages messages(relayed, spmm, counts);
            std::int64_t all = 0;
            for (int to = 0; to < on.grid.size(); ++to) {
                for (const int from : messages.peers(to)) {
                    const std::int64_t columns = block_of(relayed, 1, to).columns.size();
                    ASSERT_EQ(messages.between(from, to).bytes, 4 * columns * walk.rows(from, to))
                        << from << "->" << to;
                    all += 4 * columns * walk.rows(from, to);
                }
                const RowRelay relay(relayed, relayed.tensors.front());
                for (const int from : relay.from(to)) passed += relay.passed(counts, from, to).rows;
                EXPECT_EQ(traffic_of(relayed, spmm, counts, to).received_bytes,
                          traffic_of(straight, straight.steps.back(), counts, to).received_bytes);
            }
            expect_levels(relayed, spmm, counts);
            expect_next(relayed, counts);
            EXPECT_EQ(total_traffic(relayed, Phase::epoch, counts).total_bytes, all);
            EXPECT_EQ(total_traffic(straight, Phase::epoch, counts).total_bytes, all);
        }
    }
    EXPECT_GT(passed, 1000);
}

// Each rank of a node needs the rows of another node, which have enough of them in common.
TEST(RelayedRows, AreFewerBetweenNodes) {
    const TestProblem problem(star(13, 9, 3, 4), {{6}, true, 0, 0});
    const exec::GraphCounts counts(problem.dataset().graph(), problem.dataset().subset());
    const auto between_nodes = [&](Exchange exchange) {
        const Schedule s = schedule_of({{4, 1, 1}, 2, exchange, 1, false}, counts, false);
        std::int64_t bytes = 0;
        for (const Message& m : messages_of(s, s.steps.back(), counts)) bytes += m.from / 2 != m.to / 2 ? m.bytes : 0;
        return bytes;
    };
    EXPECT_LT(between_nodes(Exchange::relayed_rows), between_nodes(Exchange::rows));
}

}  // namespace
}  // namespace gnnplan::testing
