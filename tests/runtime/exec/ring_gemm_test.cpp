// Ring GEMM on integers, so that sums are exact in any order; where messages are rounded, the operand's have more bits
// than travel.
#include "tests/runtime/exec/harness.hpp"
#include "tests/support/rounding.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace gnnplan::exec {
namespace {

using gnnplan::testing::as_bf16;
using testing::add;
using testing::add_step;

float left(std::int64_t i, std::int64_t j) { return static_cast<float>((i + 2 * j) % 5 - 2); }
float right(std::int64_t i, std::int64_t j) { return static_cast<float>((2 * i + j) % 3 - 1); }

// The values have twelve significant bits.
float long_left(std::int64_t i, std::int64_t j) { return static_cast<float>(2049 + (i * 37 + j * 11) % 2047); }

struct Sizes {
    std::int64_t rows, in, out;
};

// The rank of the y-group of `rank` that multiplies a row.
int multiplies(const Schedule& schedule, int rank, std::int64_t row) {
    for (int position = 0; position < schedule.grid.y; ++position) {
        const int other = schedule.grid.neighbour(rank, Axis::y, position);
        const Range rows = split_block(schedule.tensors[0].rows, layout_r().rows, schedule.grid, other);
        if (rows.begin <= row && row < rows.end) return other;
    }
    return -1;
}

bool within(Range range, std::int64_t i) { return range.begin <= i && i < range.end; }

class RingGemm : public ::testing::TestWithParam<int> {
protected:
    static Schedule schedule_of(const Grid& grid, const Sizes& sizes, Wire wire = Wire::fp32) {
        Schedule schedule;
        schedule.grid = grid;
        add(schedule, "H.C", Role::transient, DType::f32, sizes.rows, sizes.in, layout_c());
        add(schedule, "W", Role::weight, DType::f32, sizes.in, sizes.out, layout_replicated());
        add(schedule, "Z.C", Role::transient, DType::f32, sizes.rows, sizes.out, layout_c());
        add(schedule, "other.C", Role::features, DType::f32, sizes.rows, sizes.in, layout_c());  // lives all the time
        add_step(schedule, "ring", RingGemmStep{0, 1, 2, wire});
        return schedule;
    }

    // The result on a rank, of the schedule that it runs.
    using Expected = std::function<float(const Schedule&, int rank, std::int64_t i, std::int64_t j)>;

    void check(const Sizes& sizes) const {
        run(sizes, Wire::fp32, left, [&](const Schedule&, int, std::int64_t i, std::int64_t j) {
            float sum = 0;
            for (std::int64_t k = 0; k < sizes.in; ++k) sum += left(i, k) * right(k, j);
            return sum;
        });
    }

    // Parts of a row that others have are rounded where it is multiplied, and so is the sum where another has made it.
    void check_rounded(const Sizes& sizes) const {
        const auto expected = [&](const Schedule& schedule, int rank, std::int64_t i, std::int64_t j) {
            const int maker = multiplies(schedule, rank, i);
            const Range own = block_of(schedule, 0, maker).columns;
            float sum = 0;
            for (std::int64_t k = 0; k < sizes.in; ++k)
                sum += (within(own, k) ? long_left(i, k) : as_bf16(long_left(i, k))) * right(k, j);
            return maker == rank ? sum : as_bf16(sum);
        };
        run(sizes, Wire::bfloat16, long_left, expected);
    }

private:
    // On every grid, twice: the result is as expected, and bytes are those predicted, half of fp32's where rounded.
    void run(const Sizes& sizes, Wire wire, float (*operand)(std::int64_t, std::int64_t),
             const Expected& expected) const {
        const data::Graph graph = testing::ring_graph(sizes.rows);
        for (const Grid& grid : testing::all_grids_of(GetParam())) {
            if (grid.y == 1) continue;
            SCOPED_TRACE(fmt::format("{} {}x{} to {}", grid.text(), sizes.rows, sizes.in, sizes.out));
            const Schedule schedule = schedule_of(grid, sizes, wire), exact = schedule_of(grid, sizes);
            comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                testing::Rank rank(schedule, graph, comm);
                rank.fill(0, operand), rank.fill(1, right), rank.fill(3, left);
                for (int again = 0; again < 2; ++again) {
                    rank.run(0);
                    rank.expect_predicted_bytes(0);
                    rank.expect(2, [&](auto i, auto j) { return expected(schedule, comm.rank(), i, j); });
                    rank.expect(0, operand), rank.expect(1, right), rank.expect(3, left);
                }
                const auto sent = [&](const Schedule& of) {
                    return traffic_of(of, of.steps[0], *rank.counts, comm.rank()).sent_bytes;
                };
                EXPECT_EQ((wire == Wire::bfloat16 ? 2 : 1) * sent(schedule), sent(exact));
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

TEST_P(RingGemm, RoundsWhatLeavesARankAndNothingElse) {
    for (const std::int64_t rows : {1, 7, 19, 40}) {
        for (const auto& [in, out] : {std::pair<std::int64_t, std::int64_t>{1, 5}, {3, 1}, {6, 6}, {11, 16}, {8, 2}})
            check_rounded({rows, in, out});
    }
    check_rounded({150, 100, 90});
    check_rounded({97, 130, 75});
}

INSTANTIATE_TEST_SUITE_P(Ranks, RingGemm, ::testing::Values(2, 3, 4, 6, 8));

}  // namespace
}  // namespace gnnplan::exec
