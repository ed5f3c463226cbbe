// Column-parallel products on small integers: the input stands whole on every rank of a y-group.
#include "tests/runtime/exec/harness.hpp"

#include <cmath>
#include <functional>

namespace gnnplan::exec {
namespace {

using testing::add;
using testing::add_step;

float left(std::int64_t i, std::int64_t j) { return static_cast<float>((i + 2 * j) % 5 - 2); }
float right(std::int64_t i, std::int64_t j) { return static_cast<float>((2 * i + j) % 3 - 1); }

template <class Element>
float product(std::int64_t n, Element&& element) {
    float sum = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += element(k);
    return sum;
}

class ColumnParallel : public ::testing::TestWithParam<int> {
protected:
    void on_every_grid(const std::function<Schedule(const Grid&)>& make,
                       const std::function<void(testing::Rank&)>& body) const {
        const data::Graph graph = testing::ring_graph(17);
        for (const Grid& grid : testing::all_grids_of(GetParam())) {
            const Schedule schedule = make(grid);
            comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                testing::Rank rank(schedule, graph, comm);
                body(rank);
            });
        }
    }
};

TEST_P(ColumnParallel, GemmMultipliesByItsColumnsOfTheWeight) {
    for (const std::int64_t width : {2, 7}) {
        on_every_grid(
            [&](const Grid& grid) {
                Schedule schedule;
                schedule.grid = grid;
                add(schedule, "T1.F", Role::transient, DType::f32, 17, 3, layout_f());
                add(schedule, "W1", Role::weight, DType::f32, 3, width, layout_replicated());
                add(schedule, "Z1.C", Role::transient, DType::f32, 17, width, layout_c());
                add_step(schedule, "gemm", GemmStep{0, 1, 2, false});
                return schedule;
            },
            [](testing::Rank& rank) {
                rank.fill(0, left);
                rank.fill(1, right);
                rank.run(0);
                EXPECT_EQ(rank.traffic.sent_bytes, 0);
                rank.expect(
                    2, [](auto i, auto j) { return product(3, [&](auto k) { return left(i, k) * right(k, j); }); });
            });
    }
}

TEST_P(ColumnParallel, WeightGradientsAreThoseOfAllColumnsOnceSummed) {
    for (const std::int64_t width : {2, 7}) {
        on_every_grid(
            [&](const Grid& grid) {
                Schedule schedule;
                schedule.grid = grid;
                add(schedule, "T1.F", Role::transient, DType::f32, 17, 3, layout_f());
                add(schedule, "G1.C", Role::transient, DType::f32, 17, width, layout_c());
                add(schedule, "Y1", Role::transient, DType::f32, 3, width, layout_partial());
                add_step(schedule, "weight_grad", WeightGradStep{0, 1, 2});
                add_step(schedule, "all_reduce", AllReduceStep{2});
                return schedule;
            },
            [](testing::Rank& rank) {
                rank.fill(0, left);
                rank.fill(1, right);
                rank.fill(2, [](auto, auto) { return std::nanf(""); });
                rank.run(0);
                rank.run(1);
                rank.expect(
                    2, [](auto i, auto j) { return product(17, [&](auto k) { return left(k, i) * right(k, j); }); });
            });
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ColumnParallel, ::testing::Values(1, 2, 3, 4, 6, 8));

}  // namespace
}  // namespace gnnplan::exec
