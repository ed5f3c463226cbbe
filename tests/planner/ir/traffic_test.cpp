// Collectives' messages against direct simulations of the algorithms they name.
#include "tests/planner/lower/configurations.hpp"

#include <gtest/gtest.h>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>

namespace gnnplan {
namespace {

// Nothing here depends on it.
const UniformStats graph(11, 11, true);

Schedule one_step(const Grid& grid, std::vector<Tensor> tensors, Operation operation) {
    return {grid, {}, std::move(tensors), {{"step", Phase::epoch, std::move(operation)}}};
}

// Walks the ring round by round, block by block.
std::vector<RankTraffic> simulated_ring(std::int64_t elements, int g, std::int64_t element_bytes) {
    std::vector<RankTraffic> traffic(static_cast<std::size_t>(g));
    const auto send = [&](int from, int block) {
        const std::int64_t bytes = balanced_block({0, elements}, ((block % g) + g) % g, g).size() * element_bytes;
        traffic[static_cast<std::size_t>(from)].sent_bytes += bytes;
        traffic[static_cast<std::size_t>((from + 1) % g)].received_bytes += bytes;
    };
    for (int round = 0; round + 1 < g; ++round) {
        for (int r = 0; r < g; ++r) send(r, r - round);      // reduce-scatter: r ends with block r + 1
        for (int r = 0; r < g; ++r) send(r, r + 1 - round);  // all-gather
    }
    return traffic;
}

TEST(Traffic, RingAllReduceEqualsItsSimulation) {
    for (const int g : {1, 2, 3, 4, 6, 8}) {
        for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 3}, {5, 7}, {16, 16}}) {
            for (const DType dtype : {DType::f32, DType::f64}) {
                const Schedule s = one_step({1, g, 1}, {{"Y", Role::transient, dtype, rows, columns, layout_partial()}},
                                            AllReduceStep{0});
                const auto traffic = traffic_of(s, s.steps[0], graph);
                EXPECT_EQ(traffic, simulated_ring(rows * columns, g, bytes_of(dtype, 1))) << "g=" << g;
                // CAGNET and cost-model: 2 (g - 1) a b elements in all.
                EXPECT_EQ(total_traffic(s, Phase::epoch, graph).total_bytes,
                          2 * (g - 1) * rows * columns * bytes_of(dtype, 1));
            }
        }
    }
}

// A sum over some axes of a grid runs the same ring among ranks that differ along these axes alone, in ascending order.
TEST(Traffic, AllReducesOverSomeAxesAreRingsAmongRanksThatDifferAlongThem) {
    constexpr std::int64_t rows = 11, columns = 3;
    for (const Grid& grid : {Grid{2, 3, 1}, Grid{2, 3, 4}, Grid{1, 2, 3}, Grid{3, 1, 2}}) {
        for (const char* axes : {"x", "y", "z", "xy", "xz", "yz", "xyz"}) {
            const Axes summed = Axes::parse(axes);
            const Schedule s = one_step(
                grid, {{"Y", Role::transient, DType::f32, rows, columns, Layout{{}, {}, summed}}}, AllReduceStep{0});
            const auto traffic = traffic_of(s, s.steps[0], graph);
            const StepMessages messages(s, s.steps[0], graph);
            for (int rank = 0; rank < grid.size(); ++rank) {
                std::vector<int> group;
                for (int other = 0; other < grid.size(); ++other) {
                    bool among = true;
                    for (const Axis axis : {Axis::x, Axis::y, Axis::z}) {
                        const bool same = grid.coordinate(rank, axis) == grid.coordinate(other, axis);
                        among = among && (same || summed.contains(axis));
                    }
                    if (among) group.push_back(other);
                }
                EXPECT_EQ(exchange_group(s, s.steps[0].operation, rank), group) << grid.text() << " " << axes;
                const auto size = static_cast<int>(group.size());
                const auto own = static_cast<int>(std::find(group.begin(), group.end(), rank) - group.begin());
                const auto ring = simulated_ring(rows * columns, size, 4);
                EXPECT_EQ(traffic[static_cast<std::size_t>(rank)], ring[static_cast<std::size_t>(own)]);
                if (size == 1) continue;
                const int next = group[static_cast<std::size_t>((own + 1) % size)];
                EXPECT_EQ(messages.between(rank, next).bytes, ring[static_cast<std::size_t>(own)].sent_bytes);
            }
        }
    }
}

// Element by element: who has it, who needs it.
TEST(Traffic, RedistributionMovesEveryElementThatChangesHands) {
    constexpr std::int64_t rows = 13, columns = 5;
    for (const Grid& grid : {Grid{1, 4, 1}, Grid{2, 3, 1}, Grid{4, 1, 1}, Grid{2, 2, 2}, Grid{3, 8, 1}}) {
        for (const bool to_r : {false, true}) {
            const Layout from = to_r ? layout_c() : layout_r();
            const Layout to = to_r ? layout_r() : layout_c();
            const Schedule s = one_step(grid,
                                        {{"a", Role::transient, DType::f32, rows, columns, from},
                                         {"b", Role::transient, DType::f32, rows, columns, to}},
                                        RedistributeStep{0, 1});
            std::vector<RankTraffic> expected(static_cast<std::size_t>(grid.size()));
            const auto owner = [&](const Layout& layout, std::int64_t i, std::int64_t j) {
                for (int rank = 0; rank < grid.size(); ++rank) {
                    const Block b = block_of(rows, columns, layout, grid, rank);
                    if (i >= b.rows.begin && i < b.rows.end && j >= b.columns.begin && j < b.columns.end) return rank;
                }
                return -1;
            };
            for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t j = 0; j < columns; ++j) {
                    const int source = owner(from, i, j), target = owner(to, i, j);
                    if (source == target) continue;
                    expected[static_cast<std::size_t>(source)].sent_bytes += 4;
                    expected[static_cast<std::size_t>(target)].received_bytes += 4;
                }
            }
            EXPECT_EQ(traffic_of(s, s.steps[0], graph), expected) << grid.text();
        }
    }
}

TEST(Traffic, BitsArePackedPerMessage) {
    const Schedule s = one_step(
        {1, 2, 1},
        {{"a", Role::transient, DType::bits, 3, 3, layout_c()}, {"b", Role::transient, DType::bits, 3, 3, layout_r()}},
        RedistributeStep{0, 1});
    // Rank 0 holds columns 0-1 and sends row 2: 2 bits; rank 1 holds column 2 and sends rows 0-1: 2 bits. One byte
    // each.
    EXPECT_EQ(traffic_of(s, s.steps[0], graph), (std::vector<RankTraffic>{{1, 1}, {1, 1}}));
}

TEST(Traffic, PanelBroadcastsReachEveryOtherRankOfTheColumn) {
    for (const Grid& grid : {Grid{4, 1, 1}, Grid{3, 2, 1}, Grid{1, 4, 1}}) {
        const Layout adjacency{Axes::parse("x"), Axes::parse("z"), {}};
        const Schedule s = one_step(grid,
                                    {{"A^T", Role::adjacency, DType::f32, 11, 11, adjacency, true},
                                     {"a", Role::transient, DType::f32, 11, 5, layout_c()},
                                     {"b", Role::transient, DType::f32, 11, 5, layout_c()}},
                                    SpmmStep{0, {1}, {2}, grid.x > 1 ? Exchange::panels : Exchange::none, false});
        EXPECT_EQ(total_traffic(s, Phase::epoch, graph).total_bytes,
                  (grid.x - 1) * 11 * 5 * 4);  // CAGNET IV-A: (p_x - 1) N w
        for (int rank = 0; rank < grid.size(); ++rank) {
            const RankTraffic traffic = traffic_of(s, s.steps[0], graph)[static_cast<std::size_t>(rank)];
            const Block own = block_of(s, 1, rank);
            EXPECT_EQ(traffic.sent_bytes, (grid.x - 1) * own.count() * 4);
            EXPECT_EQ(traffic.received_bytes, (11 - own.rows.size()) * own.columns.size() * 4);
        }
    }
}

TEST(Traffic, TheBusiestRankSumsBeforeTakingTheMaximum) {
    Schedule s = one_step(
        {1, 2, 1},
        {{"a", Role::transient, DType::f32, 3, 2, layout_c()}, {"b", Role::transient, DType::f32, 3, 2, layout_r()}},
        RedistributeStep{0, 1});
    s.tensors.push_back({"c", Role::transient, DType::f32, 3, 2, layout_c()});
    s.steps.push_back({"back", Phase::epoch, RedistributeStep{1, 2}});
    // There: rank 0 sends 1 row x 1 column, rank 1 two of them; back: the other way round.
    EXPECT_EQ(total_traffic(s, Phase::epoch, graph).total_bytes, 4 * (1 + 2 + 1 + 2));
    EXPECT_EQ(total_traffic(s, Phase::epoch, graph).max_rank_bytes, 4 * (1 + 2));
}

}  // namespace
}  // namespace gnnplan
