// Messages in bfloat16: what leaves a rank is rounded once, and nothing else is.
#include "tests/runtime/exec/products.hpp"
#include "tests/support/rounding.hpp"

#include <fmt/format.h>

#include <cmath>
#include <mutex>

namespace gnnplan::exec {
namespace {

using gnnplan::testing::as_bf16;
using testing::add;
using testing::add_step;

// Returns a number of twelve significant bits, four more than bfloat16 keeps, whose last place there is odd or even.
float long_element(std::int64_t i, std::int64_t j) {
    return static_cast<float>(2049 + (i * 37 + j * 11) % 2047) * ((i + j) % 2 == 0 ? 1.0F : -0x1p-9F);
}

bool within(Range range, std::int64_t i) { return range.begin <= i && i < range.end; }

Schedule moved(const Grid& grid, std::int64_t rows, std::int64_t columns, const Layout& from, const Layout& to,
               Wire wire) {
    Schedule schedule;
    schedule.grid = grid;
    const TensorId in = add(schedule, "in", Role::transient, DType::f32, rows, columns, from);
    const TensorId out = add(schedule, "out", Role::transient, DType::f32, rows, columns, to);
    add_step(schedule, "move", RedistributeStep{in, out, wire});
    return schedule;
}

class RoundedMessages : public ::testing::TestWithParam<int> {};

// In F each rank of a y-group has the same copy, which all of them round.
TEST_P(RoundedMessages, RedistributionsRoundWhatOthersHadBefore) {
    const Layout layouts[] = {layout_c(), layout_r(), layout_f()};
    for (const Grid& grid : testing::all_grids_of(GetParam())) {
        for (const Layout& from : layouts) {
            for (const Layout& to : layouts) {
                if (from == to) continue;
                for (const auto& [rows, columns] : {std::pair{1, 3}, std::pair{19, 11}}) {
                    SCOPED_TRACE(fmt::format("{} {}x{}", grid.text(), rows, columns));
                    const Schedule schedule = moved(grid, rows, columns, from, to, Wire::bfloat16);
                    const Schedule exact = moved(grid, rows, columns, from, to, Wire::fp32);
                    const data::Graph graph = testing::ring_graph(rows);
                    comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                        testing::Rank rank(schedule, graph, comm);
                        rank.fill(0, long_element);
                        rank.run(0);
                        rank.expect_predicted_bytes(0);
                        EXPECT_EQ(2 * rank.traffic.sent_bytes,
                                  traffic_of(exact, exact.steps[0], *rank.counts, comm.rank()).sent_bytes);
                        const Block had = rank.store.block(0);
                        const bool rounds_own = to == layout_f() && grid.y > 1;
                        rank.expect(1, [&](std::int64_t i, std::int64_t j) {
                            const bool own = within(had.rows, i) && within(had.columns, j);
                            return own && !rounds_own ? long_element(i, j) : as_bf16(long_element(i, j));
                        });
                    });
                    if (HasFailure()) return;
                }
            }
        }
    }
}

Schedule summed_over_z(int ranks, std::int64_t rows, std::int64_t columns) {
    Schedule schedule;
    schedule.grid = {1, 1, ranks};
    const Layout summand{Axes::parse("x"), Axes::parse("y"), Axes::parse("z")};
    const Layout sum{Axes::parse("xz"), Axes::parse("y"), {}};
    const TensorId in = add(schedule, "T.partial", Role::transient, DType::f32, rows, columns, summand);
    const TensorId out = add(schedule, "T", Role::transient, DType::f32, rows, columns, sum);
    add_step(schedule, "sum", ReduceScatterStep{in, out, Wire::bfloat16});
    return schedule;
}

// Summands of the first rank are 1, those of the others k 2^-9: a sum that was rounded at every rank of a ring would
// stay at 1 + 2^-7 k for even k alone.
TEST_P(RoundedMessages, EachSummandIsRoundedOnceAndAddedToTheOwners) {
    const int ranks = GetParam();
    for (const auto& [rows, columns] : {std::pair{19, 3}, std::pair{3, 2}, std::pair{5, 0}}) {
        const Schedule schedule = summed_over_z(ranks, rows, columns);
        const data::Graph graph = testing::ring_graph(rows);
        std::int64_t sent = 0;
        std::mutex mutex;
        comm::run_ranks(ranks, [&](comm::Communicator& comm) {
            testing::Rank rank(schedule, graph, comm);
            const auto summand = [](int k, std::int64_t i) {
                return k == 0 ? 1.0F : static_cast<float>(k) * 0x1p-9F * (i % 2 == 0 ? 1.0F : 1.001F);
            };
            rank.fill(0, [&](auto i, auto) { return summand(comm.rank(), i); });
            rank.fill(1, [](auto, auto) { return std::nanf(""); });
            rank.run(0);
            rank.expect_predicted_bytes(0);
            rank.expect(1, [&](auto i, auto) {
                float sum = summand(comm.rank(), i);
                for (int k = 1; k < ranks; ++k) sum += as_bf16(summand((comm.rank() + ranks - k) % ranks, i));
                return sum;
            });
            const std::lock_guard lock(mutex);
            sent += rank.traffic.sent_bytes;
        });
        EXPECT_EQ(sent, (ranks - 1) * rows * columns * 2);
    }
}

// Whole numbers, sums of which have no rounding of their own.
float whole_element(std::int64_t i, std::int64_t j) { return static_cast<float>(2049 + (i * 37 + j * 11) % 2047); }

// Row i is the sum over the sources of its edges, which the rank has where they are its own.
TEST_P(RoundedMessages, ProductsReadTheirOwnRowsAsTheyAre) {
    const data::Graph graph = testing::ring_graph(23);
    int turn = 0;
    for (const Grid& grid : testing::grids_of(GetParam())) {
        for (const Exchange exchange : {Exchange::panels, Exchange::rows, Exchange::relay, Exchange::relayed_rows}) {
            for (const bool overlap : {false, true}) {
                testing::ProductCase product{"whole", grid, "z"};
                if (grid.x == 1 || !product.switch_to(exchange, overlap)) continue;
                product.wire = Wire::bfloat16, product.ranks_per_node = 2 + ++turn % 3;
                product.splits = 1 + turn % 3;
                SCOPED_TRACE(product.text());
                const Schedule schedule = testing::schedule_of(product);
                comm::run_ranks(GetParam(), [&](comm::Communicator& comm) {
                    testing::Rank rank(schedule, graph, comm);
                    rank.fill(testing::operand, whole_element);
                    for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
                        rank.run(step);
                        rank.expect_predicted_bytes(step);
                    }
                    const Range own = rank.store.block(testing::operand).rows;
                    rank.expect(testing::result_of(schedule), [&](std::int64_t i, std::int64_t j) {
                        float sum = 0;
                        for (std::int64_t u = 0; u < graph.vertices(); ++u) {
                            for (auto k = graph.out.row_start[u]; k < graph.out.row_start[u + 1]; ++k) {
                                if (graph.out.column[k] != i) continue;
                                const float value = whole_element(u, j);
                                sum += within(own, u) ? value : as_bf16(value);
                            }
                        }
                        return sum;
                    });
                });
                if (HasFailure()) return;
            }
        }
    }
    EXPECT_TRUE(turn > 0 || GetParam() == 1);
}

INSTANTIATE_TEST_SUITE_P(Ranks, RoundedMessages, ::testing::Values(1, 2, 3, 4, 6, 8));

}  // namespace
}  // namespace gnnplan::exec
