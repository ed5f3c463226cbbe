#include "tests/runtime/exec/harness.hpp"

#include <gnnplan/ir/traffic.hpp>

namespace gnnplan::exec {
namespace {

using testing::add;
using testing::add_step;

constexpr std::int64_t vertices = 23;

float element(std::int64_t i, std::int64_t j) { return static_cast<float>(i % 5 + 2 * (j % 3) - 1); }

Schedule product(const Grid& grid, std::int64_t width) {
    Schedule schedule;
    schedule.grid = grid;
    const TensorId matrix =
        add(schedule, "A^T", Role::adjacency, DType::f32, vertices, vertices, {Axes::parse("x"), Axes::parse("z"), {}});
    const TensorId in = add(schedule, "H", Role::transient, DType::f32, vertices, width, layout_c());
    const TensorId out = add(schedule, "T", Role::transient, DType::f32, vertices, width, layout_c());
    add_step(schedule, "spmm", SpmmStep{matrix, in, out, grid.x > 1 ? Exchange::panels : Exchange::none});
    return schedule;
}

class Spmm : public ::testing::TestWithParam<int> {};

TEST_P(Spmm, SumsTheNeighboursOnEveryGrid) {
    const data::Graph graph = testing::ring_graph(vertices);
    const auto expected = [&](std::int64_t i, std::int64_t j) {
        float sum = 0;
        for (auto k = graph.out.row_start[static_cast<std::size_t>(i)];
             k < graph.out.row_start[static_cast<std::size_t>(i) + 1]; ++k) {
            sum += element(graph.out.column[static_cast<std::size_t>(k)], j);
        }
        return sum;
    };
    for (const Grid& grid : testing::grids_of(GetParam())) {
        for (const std::int64_t width : {1, 6}) {
            SCOPED_TRACE(grid.text());
            const Schedule schedule = product(grid, width);
            comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                testing::Rank rank(schedule, graph, comm);
                rank.fill(1, element);
                rank.run(0);
                rank.expect(2, expected);
                rank.expect(1, element);  // the operand is left as it was
                const RankTraffic traffic =
                    traffic_of(schedule, schedule.steps[0])[static_cast<std::size_t>(comm.rank())];
                EXPECT_EQ(rank.traffic.sent_bytes, traffic.sent_bytes);
                EXPECT_EQ(rank.traffic.received_bytes, traffic.received_bytes);
            });
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Spmm, ::testing::Range(1, 9));

}  // namespace
}  // namespace gnnplan::exec
