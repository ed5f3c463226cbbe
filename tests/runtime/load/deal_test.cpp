// Edges get to the ranks that make their rows.
#include "runtime/load/deal.hpp"
#include "runtime/comm/counting.hpp"
#include "runtime/comm/threads.hpp"
#include "tests/runtime/load/schedules.hpp"

#include <gnnplan/ir/loading.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace gnnplan::load {
namespace {

TEST(RowShares, EveryRowIsMadeOnceByARankThatKeepsIt) {
    for (const std::int64_t vertices : {1, 3, 7, 64}) {
        for (const Grid& grid : testing::grids()) {
            const RowShares shares(testing::schedule(vertices, grid));
            for (std::int64_t row = 0; row < vertices; ++row) {
                const int maker = shares.maker(row);
                int makers = 0;
                for (int rank = 0; rank < grid.size(); ++rank) {
                    const Range made = shares.made(rank);
                    makers += row >= made.begin && row < made.end ? 1 : 0;
                    EXPECT_TRUE(made.empty() ||
                                (made.begin >= shares.kept(rank).begin && made.end <= shares.kept(rank).end));
                }
                EXPECT_EQ(makers, 1) << vertices << " " << grid.text() << " " << row;
                EXPECT_TRUE(row >= shares.made(maker).begin && row < shares.made(maker).end);
            }
        }
    }
}

// The planner asks a schedule for the share of one rank.
TEST(RowShares, AreThoseThatThePlannerCountsWith) {
    for (const std::int64_t vertices : {7, 64}) {
        for (const Grid& grid : testing::grids()) {
            const Schedule schedule = testing::schedule(vertices, grid);
            const RowShares shares(schedule);
            for (int rank = 0; rank < grid.size(); ++rank) {
                const RowShare share = row_share_of(schedule, rank);
                EXPECT_EQ(share.kept, shares.kept(rank));
                if (share.kept.empty()) continue;
                EXPECT_EQ(share.made, shares.made(rank));
                EXPECT_EQ(share.group, shares.group(rank)) << grid.text() << " " << rank;
            }
        }
    }
}

// More edges than go in a round, unevenly: rank r has r times as many as rank 1, and rank 0 none.
TEST(Dealer, DealsEveryEdgeToTheMakersOfItsRows) {
    const std::int64_t vertices = 50;
    const Grid grid{2, 2, 1};
    const RowShares shares(testing::schedule(vertices, grid));
    const data::VertexOrder order;
    const auto edges_of = [&](int rank) {
        std::vector<data::Edge> edges;
        const auto count = 3 * edges_dealt_in_round(grid.size()) / 2 * rank;
        for (std::int64_t i = 0; i < count; ++i)
            edges.push_back(
                {static_cast<std::int32_t>((7 * i + rank) % vertices), static_cast<std::int32_t>(i % vertices)});
        return edges;
    };
    std::vector<std::int64_t> in_degree(50, 0), out_degree(50, 0);
    for (int rank = 0; rank < grid.size(); ++rank) {
        for (const data::Edge& edge : edges_of(rank)) {
            ++in_degree[static_cast<std::size_t>(edge.to)];
            ++out_degree[static_cast<std::size_t>(edge.from)];
        }
    }
    comm::run_ranks(grid.size(), [&](comm::Communicator& comm) {
        Dealer dealer(comm, shares, order, true, true);
        const std::vector<data::Edge> edges = edges_of(comm.rank());
        std::vector<float> weights;
        weights.reserve(edges.size());
        for (const data::Edge& edge : edges) weights.push_back(static_cast<float>(100 * edge.from + edge.to));
        dealer.deal(edges, weights);
        const Dealt dealt = dealer.finish();
        const Range made = shares.made(comm.rank());
        std::vector<std::int64_t> sources(static_cast<std::size_t>(made.size()), 0), targets = sources;
        dealt.sources.for_each([&](data::Edge edge, float weight) {
            ++sources[static_cast<std::size_t>(edge.from)];
            EXPECT_EQ(weight, static_cast<float>(100 * edge.to + edge.from + made.begin));
        });
        dealt.targets.for_each([&](data::Edge edge, float weight) {
            ++targets[static_cast<std::size_t>(edge.from)];
            EXPECT_EQ(weight, static_cast<float>(100 * (edge.from + made.begin) + edge.to));
        });
        for (std::size_t row = 0; row < sources.size(); ++row) {
            EXPECT_EQ(sources[row], in_degree[row + static_cast<std::size_t>(made.begin)]);
            EXPECT_EQ(targets[row], out_degree[row + static_cast<std::size_t>(made.begin)]);
        }
    });
}

TEST(Dealer, StopsEveryoneWhereOneFails) {
    const RowShares shares(testing::schedule(20, {3, 1, 1}));
    const data::VertexOrder order;
    std::atomic<int> stopped = 0;
    comm::run_ranks(3, [&](comm::Communicator& comm) {
        Dealer dealer(comm, shares, order, false, false);
        if (comm.rank() == 1) return dealer.fail();
        try {
            const std::vector<data::Edge> edges(10, data::Edge{1, 2});
            for (int i = 0; i < 5; ++i) dealer.deal(edges, {});
            dealer.finish();
        } catch (const Stopped&) {
            ++stopped;
        }
    });
    EXPECT_EQ(stopped, 2);
}

}  // namespace
}  // namespace gnnplan::load
