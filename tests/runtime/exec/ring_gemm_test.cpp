// Ring GEMM on small integers, so that sums are exact in any order.
#include "tests/runtime/exec/harness.hpp"

#include <fmt/format.h>

#include <utility>

namespace gnnplan::exec {
namespace {

using testing::add;
using testing::add_step;

float left(std::int64_t i, std::int64_t j) { return static_cast<float>((i + 2 * j) % 5 - 2); }
float right(std::int64_t i, std::int64_t j) { return static_cast<float>((2 * i + j) % 3 - 1); }

struct Sizes {
    std::int64_t rows, in, out;
};

class RingGemm : public ::testing::TestWithParam<int> {
protected:
    static Schedule schedule_of(const Grid& grid, const Sizes& sizes) {
        Schedule schedule;
        schedule.grid = grid;
        add(schedule, "H.C", Role::transient, DType::f32, sizes.rows, sizes.in, layout_c());
        add(schedule, "W", Role::weight, DType::f32, sizes.in, sizes.out, layout_replicated());
        add(schedule, "Z.C", Role::transient, DType::f32, sizes.rows, sizes.out, layout_c());
        add(schedule, "other.C", Role::features, DType::f32, sizes.rows, sizes.in, layout_c());  // lives all the time
        add_step(schedule, "ring", RingGemmStep{0, 1, 2});
        return schedule;
    }

    void check(const Sizes& sizes) const {
        const data::Graph graph = testing::ring_graph(sizes.rows);
        for (const Grid& grid : testing::all_grids_of(GetParam())) {
            if (grid.y == 1) continue;
            SCOPED_TRACE(fmt::format("{} {}x{} to {}", grid.text(), sizes.rows, sizes.in, sizes.out));
            const Schedule schedule = schedule_of(grid, sizes);
            comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                testing::Rank rank(schedule, graph, comm);
                rank.fill(0, left), rank.fill(1, right), rank.fill(3, left);
                for (int again = 0; again < 2; ++again) {
                    rank.run(0);
                    rank.expect_predicted_bytes(0);
                    rank.expect(2, [&](auto i, auto j) {
                        float sum = 0;
                        for (std::int64_t k = 0; k < sizes.in; ++k) sum += left(i, k) * right(k, j);
                        return sum;
                    });
                    rank.expect(0, left), rank.expect(1, right), rank.expect(3, left);
                }
            });
            if (HasFailure()) return;
        }
    }
};

TEST_P(RingGemm, IsTheProductWhateverTheSizes) {
    for (const std::int64_t rows : {1, 7, 19, 40}) {
        for (const auto& [in, out] : {std::pair<std::int64_t, std::int64_t>{1, 5}, {3, 1}, {6, 6}, {11, 16}, {8, 2}})
            check({rows, in, out});
    }
}

// So much work that tiles are multiplied in portions.
TEST_P(RingGemm, IsTheProductOfLargerMatrices) {
    check({150, 100, 90});
    check({97, 130, 75});
}

INSTANTIATE_TEST_SUITE_P(Ranks, RingGemm, ::testing::Values(2, 3, 4, 6, 8));

}  // namespace
}  // namespace gnnplan::exec
