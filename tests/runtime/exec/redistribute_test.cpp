#include "tests/runtime/exec/harness.hpp"

#include <gnnplan/ir/traffic.hpp>

namespace gnnplan::exec {
namespace {

using testing::add;
using testing::add_step;

float element(std::int64_t i, std::int64_t j) { return static_cast<float>(1000 * i + j + 1); }
bool bit(std::int64_t i, std::int64_t j) { return (i * 7 + j * 3 + i * j) % 5 < 2; }

// in -> there -> back
Schedule round_trip(const Grid& grid, DType dtype, std::int64_t rows, std::int64_t columns, bool from_c) {
    const Layout first = from_c ? layout_c() : layout_r();
    const Layout second = from_c ? layout_r() : layout_c();
    Schedule schedule;
    schedule.grid = grid;
    const TensorId in = add(schedule, "in", Role::transient, dtype, rows, columns, first);
    const TensorId there = add(schedule, "there", Role::transient, dtype, rows, columns, second);
    const TensorId back = add(schedule, "back", Role::transient, dtype, rows, columns, first);
    add_step(schedule, "go", RedistributeStep{in, there});
    add_step(schedule, "return", RedistributeStep{there, back});
    return schedule;
}

void expect_counted(const testing::Rank& rank, std::size_t step) {
    const Schedule& schedule = rank.store.schedule();
    const RankTraffic expected =
        traffic_of(schedule, schedule.steps[step])[static_cast<std::size_t>(rank.store.rank())];
    EXPECT_EQ(rank.traffic.sent_bytes, expected.sent_bytes);
    EXPECT_EQ(rank.traffic.received_bytes, expected.received_bytes);
}

void fill_bits(testing::Rank& rank, TensorId id) {
    const Block block = rank.store.block(id);
    const auto bytes = reinterpret_cast<std::uint8_t*>(rank.store.bytes(id));
    std::fill_n(bytes, bytes_of(DType::bits, block.count()), std::uint8_t{0});
    std::int64_t at = 0;
    for (std::int64_t i = block.rows.begin; i < block.rows.end; ++i) {
        for (std::int64_t j = block.columns.begin; j < block.columns.end; ++j, ++at) {
            if (bit(i, j)) bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] | 1 << (at % 8));
        }
    }
}

void expect_bits(const testing::Rank& rank, TensorId id) {
    const Block block = rank.store.block(id);
    const auto bytes = reinterpret_cast<const std::uint8_t*>(rank.store.bytes(id));
    std::int64_t at = 0;
    for (std::int64_t i = block.rows.begin; i < block.rows.end; ++i) {
        for (std::int64_t j = block.columns.begin; j < block.columns.end; ++j, ++at) {
            ASSERT_EQ((bytes[at / 8] >> (at % 8) & 1) != 0, bit(i, j)) << i << "," << j;
        }
    }
    for (; at % 8 != 0; ++at) ASSERT_EQ(bytes[at / 8] >> (at % 8) & 1, 0) << "trailing bits are 0";
}

class Redistribute : public ::testing::TestWithParam<int> {};

TEST_P(Redistribute, MovesFloatsBetweenLayoutsThereAndBack) {
    for (const Grid& grid : testing::grids_of(GetParam())) {
        for (const std::int64_t rows : {1, 7, 19}) {
            for (const std::int64_t columns : {1, 3, 11}) {
                for (const bool from_c : {true, false}) {
                    SCOPED_TRACE(grid.text() + " " + std::to_string(rows) + "x" + std::to_string(columns));
                    const Schedule schedule = round_trip(grid, DType::f32, rows, columns, from_c);
                    const data::Graph graph = testing::ring_graph(rows);
                    comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                        testing::Rank rank(schedule, graph, comm);
                        rank.fill(0, element);
                        rank.run(0);
                        expect_counted(rank, 0);
                        rank.expect(1, element);
                        rank.run(1);
                        expect_counted(rank, 1);
                        rank.expect(2, element);
                    });
                }
            }
        }
    }
}

TEST_P(Redistribute, MovesPackedBitsBetweenLayoutsThereAndBack) {
    for (const Grid& grid : testing::grids_of(GetParam())) {
        for (const std::int64_t columns : {1, 5, 13}) {
            for (const bool from_c : {true, false}) {
                const Schedule schedule = round_trip(grid, DType::bits, 17, columns, from_c);
                const data::Graph graph = testing::ring_graph(17);
                comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                    testing::Rank rank(schedule, graph, comm);
                    fill_bits(rank, 0);
                    rank.run(0);
                    expect_counted(rank, 0);
                    expect_bits(rank, 1);
                    rank.run(1);
                    expect_bits(rank, 2);
                });
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Redistribute, ::testing::Range(1, 9));

}  // namespace
}  // namespace gnnplan::exec
