#include "tests/runtime/exec/harness.hpp"

#include <fmt/format.h>

namespace gnnplan::exec {
namespace {

using testing::add;
using testing::add_step;

float element(std::int64_t i, std::int64_t j) { return static_cast<float>(1000 * i + j + 1); }
bool bit(std::int64_t i, std::int64_t j) { return (i * 7 + j * 3 + i * j) % 5 < 2; }

struct Pair {
    const char* name;
    Layout from, to;
};

const std::vector<Pair>& pairs() {
    static const std::vector<Pair> all = {{"C to R", layout_c(), layout_r()}, {"R to C", layout_r(), layout_c()},
                                          {"C to F", layout_c(), layout_f()}, {"F to C", layout_f(), layout_c()},
                                          {"R to F", layout_r(), layout_f()}, {"F to R", layout_f(), layout_r()}};
    return all;
}

// in -> there -> back
Schedule round_trip(const Grid& grid, DType dtype, std::int64_t rows, std::int64_t columns, const Pair& pair) {
    Schedule schedule;
    schedule.grid = grid;
    const TensorId in = add(schedule, "in", Role::transient, dtype, rows, columns, pair.from);
    const TensorId there = add(schedule, "there", Role::transient, dtype, rows, columns, pair.to);
    const TensorId back = add(schedule, "back", Role::transient, dtype, rows, columns, pair.from);
    add_step(schedule, "go", RedistributeStep{in, there});
    add_step(schedule, "return", RedistributeStep{there, back});
    return schedule;
}

void fill_bits(testing::Rank& rank, TensorId id) {
    const Block block = rank.store.block(id);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(bytes_of(DType::bits, block.count())));
    std::size_t at = 0;
    for (std::int64_t i = block.rows.begin; i < block.rows.end; ++i) {
        for (std::int64_t j = block.columns.begin; j < block.columns.end; ++j, ++at) {
            if (bit(i, j)) bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] | 1 << (at % 8));
        }
    }
    rank.write(id, bytes);
}

void expect_bits(const testing::Rank& rank, TensorId id) {
    const Block block = rank.store.block(id);
    const std::vector<std::uint8_t> bytes = rank.read<std::uint8_t>(id);
    std::size_t at = 0;
    for (std::int64_t i = block.rows.begin; i < block.rows.end; ++i) {
        for (std::int64_t j = block.columns.begin; j < block.columns.end; ++j, ++at) {
            ASSERT_EQ((bytes[at / 8] >> (at % 8) & 1) != 0, bit(i, j)) << i << "," << j;
        }
    }
    for (; at % 8 != 0; ++at) ASSERT_EQ(bytes[at / 8] >> (at % 8) & 1, 0) << "trailing bits are 0";
}

class Redistribute : public ::testing::TestWithParam<int> {
protected:
    // There and back between two layouts, on every grid; `fill` and `expect` do with a tensor of a rank what they say.
    void check(DType dtype, std::int64_t rows, std::int64_t columns,
               const std::function<void(testing::Rank&, TensorId)>& fill,
               const std::function<void(const testing::Rank&, TensorId)>& expect) const {
        const data::Graph graph = testing::ring_graph(rows);
        for (const Grid& grid : testing::all_grids_of(GetParam())) {
            for (const Pair& pair : pairs()) {
                SCOPED_TRACE(fmt::format("{} {}x{} {}", grid.text(), rows, columns, pair.name));
                const Schedule schedule = round_trip(grid, dtype, rows, columns, pair);
                comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                    testing::Rank rank(schedule, graph, comm);
                    fill(rank, 0);
                    for (const std::size_t step : {0, 1}) {
                        rank.run(step);
                        rank.expect_predicted_bytes(step);
                        if ((step == 0 ? pair.from : pair.to) == layout_f()) {
                            EXPECT_EQ(rank.traffic.sent_bytes, 0);
                        }
                        expect(rank, static_cast<TensorId>(step) + 1);
                    }
                });
                if (HasFailure()) return;
            }
        }
    }
};

TEST_P(Redistribute, MovesFloatsBetweenLayoutsThereAndBack) {
    for (const std::int64_t rows : {1, 7, 19}) {
        for (const std::int64_t columns : {1, 3, 11}) {
            check(
                DType::f32, rows, columns, [](testing::Rank& rank, TensorId id) { rank.fill(id, element); },
                [](const testing::Rank& rank, TensorId id) { rank.expect(id, element); });
        }
    }
}

TEST_P(Redistribute, MovesPackedBitsBetweenLayoutsThereAndBack) {
    for (const std::int64_t columns : {1, 5, 13}) check(DType::bits, 17, columns, fill_bits, expect_bits);
}

// A matrix of all vertices goes to the rows that a layer needs, and from there back, where the other rows are zero.
TEST_P(Redistribute, MovesRowsBetweenSpaces) {
    constexpr std::int64_t columns = 5;
    for (const auto& [rows, needed] : {std::pair<std::int64_t, std::int64_t>{19, 7}, {19, 18}, {7, 1}, {23, 12}}) {
        const data::Graph graph = testing::ring_graph(rows);
        const auto kept = [needed = needed](std::int64_t i, std::int64_t j) {
            return i < needed ? element(i, j) : 0.0F;
        };
        for (const Grid& grid : testing::all_grids_of(GetParam())) {
            for (Pair pair : pairs()) {
                SCOPED_TRACE(fmt::format("{} {} of {} rows, {}", grid.text(), needed, rows, pair.name));
                Schedule schedule = round_trip(grid, DType::f32, rows, columns, pair);
                schedule.spaces = {{"vertices", rows, 0}, {"needed.1", needed, 1}};
                for (Tensor& tensor : schedule.tensors) tensor.space = 0;
                schedule.tensors[1].rows = needed;
                schedule.tensors[1].space = 1;
                comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                    testing::Rank rank(schedule, graph, comm);
                    rank.fill(0, element);
                    for (const std::size_t step : {0, 1}) {
                        rank.run(step);
                        rank.expect_predicted_bytes(step);
                        rank.expect(static_cast<TensorId>(step) + 1, kept);
                    }
                });
                if (HasFailure()) return;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Redistribute, ::testing::Range(1, 9));

}  // namespace
}  // namespace gnnplan::exec
