// Sums of partial tensors over one axis, scattered over it.
#include "tests/runtime/exec/harness.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gnnplan::exec {
namespace {

using testing::add;
using testing::add_step;

float element(std::int64_t i, std::int64_t j) { return static_cast<float>(10 * i + j + 1); }

Schedule sum_over(Axis axis, const Grid& grid, std::int64_t rows, std::int64_t columns) {
    const bool over_y = axis == Axis::y;  // CAGNET's 1.5D sums over y, whole rows; splits of the contraction over z
    const Axes kept = over_y ? Axes() : Axes::parse("y");
    Schedule schedule;
    schedule.grid = grid;
    const Layout summand{Axes::parse("x"), kept, Axes::parse(over_y ? "y" : "z")};
    const Layout sum{Axes::parse(over_y ? "xy" : "xz"), kept, {}};
    const TensorId in = add(schedule, "T.partial", Role::transient, DType::f32, rows, columns, summand);
    const TensorId out = add(schedule, "T", Role::transient, DType::f32, rows, columns, sum);
    add_step(schedule, "sum", ReduceScatterStep{in, out});
    return schedule;
}

class ReduceScatter : public ::testing::TestWithParam<int> {};

// Rank g of an axis holds (g + 1) times the matrix. Fewer rows than ranks and columns than ranks included.
TEST_P(ReduceScatter, LeavesEachRankItsRowsOfTheSum) {
    int summed = 0;
    for (const Grid& grid : testing::all_grids_of(GetParam())) {
        for (const Axis axis : {Axis::y, Axis::z}) {
            const int extent = grid.extent(axis);
            if (extent == 1) continue;
            ++summed;
            for (const std::int64_t rows : {1, 7, 19}) {
                for (const std::int64_t columns : {1, 5}) {
                    SCOPED_TRACE(fmt::format("{} {}x{}", grid.text(), rows, columns));
                    const Schedule schedule = sum_over(axis, grid, rows, columns);
                    const data::Graph graph = testing::ring_graph(rows);
                    comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                        testing::Rank rank(schedule, graph, comm);
                        const auto own = static_cast<float>(grid.coordinate(comm.rank(), axis) + 1);
                        rank.fill(0, [&](auto i, auto j) { return own * element(i, j); });
                        rank.fill(1, [](auto, auto) { return std::nanf(""); });
                        rank.run(0);
                        rank.expect_predicted_bytes(0);
                        const auto total = static_cast<float>(extent * (extent + 1) / 2);
                        rank.expect(1, [&](auto i, auto j) { return total * element(i, j); });
                    });
                }
            }
        }
    }
    EXPECT_GT(summed, 0);
}

// Every block but its own leaves each rank once: over g ranks (g - 1) matrices travel.
TEST_P(ReduceScatter, MovesAllBlocksButOneOfEachRank) {
    const int ranks = GetParam();
    constexpr std::int64_t rows = 19;
    const Schedule schedule = sum_over(Axis::z, {1, 1, ranks}, rows, 3);
    const data::Graph graph = testing::ring_graph(rows);
    std::vector<std::int64_t> sent(static_cast<std::size_t>(ranks));
    comm::run_ranks(ranks, [&](comm::Communicator& comm) {
        testing::Rank rank(schedule, graph, comm);
        rank.fill(0, element);
        rank.run(0);
        sent[static_cast<std::size_t>(comm.rank())] = rank.traffic.sent_bytes;
    });
    std::int64_t total = 0;
    for (const std::int64_t bytes : sent) total += bytes;
    EXPECT_EQ(total, (ranks - 1) * rows * 3 * 4);
}

INSTANTIATE_TEST_SUITE_P(Ranks, ReduceScatter, ::testing::Values(2, 3, 4, 6, 8, 12));

}  // namespace
}  // namespace gnnplan::exec
