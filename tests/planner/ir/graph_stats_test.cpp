#include <gnnplan/ir/graph_stats.hpp>

#include <gnnplan/base/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace gnnplan {
namespace {

std::int64_t sum_of_tiles(const GraphStats& stats, bool transposed, Range rows, std::int64_t q) {
    std::int64_t sum = 0;
    for (std::int64_t j = 0; j < q; ++j) {
        const std::int64_t block =
            stats.block_nonzeros(MatrixId(transposed), rows, balanced_block({0, stats.vertices()}, j, q));
        EXPECT_GE(block, 0);
        sum += block;
    }
    return sum;
}

// Column blocks add up to the rows, rows to the whole, in each direction and numbering.
void expect_additive(const GraphStats& stats) {
    const Range all = {0, stats.vertices()};
    for (const bool transposed : {false, true}) {
        for (const std::int64_t p : {1, 2, 3, 8, 30}) {
            std::int64_t total = 0;
            for (std::int64_t i = 0; i < p; ++i) {
                const Range rows = balanced_block(all, i, p);
                for (const std::int64_t q : {1, 2, 5, 12}) {
                    ASSERT_EQ(sum_of_tiles(stats, transposed, rows, q), stats.row_nonzeros(MatrixId(transposed), rows));
                }
                total += stats.row_nonzeros(MatrixId(transposed), rows);
            }
            ASSERT_EQ(total, stats.nonzeros());
        }
    }
}

TEST(UniformStats, BlocksOfAnyGridAddUp) {
    for (const std::int64_t nonzeros : {0, 1, 26, 100, 27 * 27}) {
        for (const double fraction : {0.0, 0.1, 0.5, 1.0}) {
            const UniformStats stats(27, nonzeros, false, fraction);
            expect_additive(stats);
            for (const int layers : {1, 2, 4}) expect_additive(*stats.numbered({.loss_layers = layers}));
        }
    }
}

// A part owns its vertices and meets as many of every other part: replicas add up to the factor.
TEST(UniformStats, KnowsPartsOfACut) {
    const UniformStats stats = UniformStats(1200, 24000, true).with_replication({1.5, 2.0, 0, 3.0});
    EXPECT_EQ(stats.replication(2), 1.5);
    EXPECT_EQ(stats.replication(4), 2.0);
    EXPECT_NEAR(stats.replication(3).value(), 1.5 + 0.5 * (std::log2(3) - 1), 1e-12);
    for (const int parts : {1, 5, 8, 12, 32}) EXPECT_EQ(stats.replication(parts), std::nullopt) << parts;
    EXPECT_EQ(UniformStats(9, 9, true).replication(2), std::nullopt);
    const auto cut = stats.numbered({.parts = 4, .cut = CutRule::libra});
    const Range all{0, 1200};
    std::int64_t replicas = 0;
    for (int part = 0; part < 4; ++part) {
        const MatrixId matrix = part_of(forward_matrix, part);
        EXPECT_EQ(cut->block_nonzeros(matrix, all, all), 6000);
        for (int owner = 0; owner < 4; ++owner) {
            const std::int64_t met = cut->distinct_columns(matrix, all, balanced_block(all, owner, 4));
            EXPECT_EQ(met, owner == part ? 300 : 100);
            replicas += met;
        }
    }
    EXPECT_EQ(replicas, 2 * 1200);
}

TEST(UniformStats, SpreadNonzerosEvenly) {
    const UniformStats stats(100, 5000, false);
    EXPECT_EQ(stats.block_nonzeros(forward_matrix, {0, 50}, {50, 100}), 1250);
    EXPECT_EQ(stats.block_nonzeros(backward_matrix, {10, 20}, {0, 20}), 100);
    EXPECT_EQ(stats.block_nonzeros(forward_matrix, {3, 4}, {7, 9}), 1);
    EXPECT_EQ(stats.block_nonzeros(forward_matrix, {5, 5}, {0, 100}), 0);
    const UniformStats full(9, 81, true);
    EXPECT_EQ(full.block_nonzeros(forward_matrix, {2, 5}, {1, 8}), 21);
    const std::int64_t huge = std::int64_t{1} << 40;  // vertices * nonzeros exceeds 2^63
    EXPECT_EQ(UniformStats(huge, 8 * huge, true).block_nonzeros(forward_matrix, {0, huge / 2}, {huge / 4, huge}),
              3 * huge);
}

TEST(UniformStats, DistinctColumnsAreExpected) {
    const UniformStats stats(1000, 8000, false);
    // 800 nonzeros in 500 columns.
    EXPECT_EQ(stats.distinct_columns(forward_matrix, {0, 200}, {500, 1000}),
              std::llround(500 * (1 - std::pow(1 - 1.0 / 500, 800))));
    EXPECT_EQ(stats.distinct_columns(forward_matrix, {0, 1000}, {7, 8}), 1) << "one column, many nonzeros";
    EXPECT_EQ(stats.distinct_columns(forward_matrix, {0, 0}, {0, 1000}), 0);
    EXPECT_EQ(stats.distinct_columns(forward_matrix, {0, 1000}, {4, 4}), 0);
    EXPECT_EQ(UniformStats(1000, 0, false).distinct_columns(backward_matrix, {0, 1000}, {0, 1}), 0);
    for (std::int64_t i = 0; i < 40; ++i) {
        const Range rows = balanced_block({0, 1000}, i, 40);
        const Range columns = {10 * i, 11 * i + 1};
        EXPECT_LE(stats.distinct_columns(backward_matrix, rows, columns),
                  stats.block_nonzeros(backward_matrix, rows, columns));
        EXPECT_LE(stats.distinct_columns(backward_matrix, rows, columns), columns.size());
    }
    // 1 - 2^-40 keeps but 13 digits of 2^-40; the share of columns met is 1 - e^-8 all the same.
    const std::int64_t huge = std::int64_t{1} << 40;
    EXPECT_NEAR(
        static_cast<double>(UniformStats(huge, 8 * huge, true).distinct_columns(forward_matrix, {0, huge}, {0, huge})) /
            static_cast<double>(huge),
        1 - std::exp(-8), 1e-9);
}

TEST(UniformStats, RowsOfTheLossGrowByExpectation) {
    const UniformStats stats(1000, 8000, false, 0.01);
    const auto rows = stats.loss_rows(3);
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[3], 10);
    EXPECT_EQ(rows[2], std::llround(1000 * (1 - std::pow(0.99, 8))));
    EXPECT_EQ(rows[1], std::llround(1000 * (1 - std::pow(1 - static_cast<double>(rows[2]) / 1000, 8))));
    EXPECT_LE(rows[1], rows[0]);
    EXPECT_LE(rows[0], 1000);
    EXPECT_EQ(UniformStats(1000, 8000, false, 0).loss_rows(1).back(), 1) << "at least one vertex trains";
    EXPECT_EQ(UniformStats(10, 0, false, 0.5).loss_rows(2), std::vector<std::int64_t>(3, 5)) << "no neighbours";
    EXPECT_EQ(UniformStats(10, 1, false).loss_rows(2), std::vector<std::int64_t>(3, 10));
}

// n = (N_0, N_1, N_2): the nonzeros of rows [0, n_2) lie in columns [0, n_1), those of [n_2, n_1) in [0, n_0).
TEST(UniformStats, LossRowsMeetTheColumnsOfTheirNeighbours) {
    const UniformStats stats(1000, 8000, false, 0.01);
    const auto n = stats.loss_rows(2);
    ASSERT_TRUE(n[2] < n[1] && n[1] < n[0] && n[0] < 1000);
    const auto first = stats.numbered({.loss_layers = 2});
    const auto block = [&](Range rows, Range columns) { return first->block_nonzeros(forward_matrix, rows, columns); };
    EXPECT_EQ(block({0, n[2]}, {0, n[1]}), 8 * n[2]);
    EXPECT_EQ(block({0, n[2]}, {n[1], 1000}), 0);
    EXPECT_EQ(block({n[2], n[1]}, {0, n[0]}), 8 * (n[1] - n[2]));
    EXPECT_EQ(block({n[2], n[1]}, {n[0], 1000}), 0);
    EXPECT_NEAR(static_cast<double>(block({n[2], n[1]}, {0, n[1]})),
                8.0 * static_cast<double>((n[1] - n[2]) * n[1]) / static_cast<double>(n[0]), 1);
    EXPECT_EQ(block({n[1], 1000}, {0, 500}), 4 * (1000 - n[1])) << "of the others nothing is known";
    EXPECT_EQ(first->row_nonzeros(forward_matrix, {3, 90}), stats.row_nonzeros(forward_matrix, {3, 90}))
        << "as many in each row";
    EXPECT_EQ(first->loss_rows(2), n);
}

TEST(UniformStats, TheOtherDirectionIsTheTranspose) {
    const UniformStats stats(1000, 8000, false, 0.01);
    const auto first = stats.numbered({.loss_layers = 2});
    for (std::int64_t i = 0; i < 49; ++i) {
        const Range rows = balanced_block({0, 1000}, i / 7, 7);
        const Range columns = balanced_block({0, 1000}, i % 7, 7);
        // One rounding per band and direction.
        EXPECT_NEAR(static_cast<double>(first->block_nonzeros(backward_matrix, rows, columns)),
                    static_cast<double>(first->block_nonzeros(forward_matrix, columns, rows)), 3);
    }
    EXPECT_GT(first->row_nonzeros(backward_matrix, {0, 10}), first->row_nonzeros(backward_matrix, {990, 1000}))
        << "columns of A^T that the loss needs are met more often";
}

// Where several bands meet the same columns, by the chances themselves.
TEST(UniformStats, DistinctColumnsOfTheLoss) {
    const UniformStats stats(1000, 8000, false, 0.01);
    const auto n = stats.loss_rows(1);
    const auto first = stats.numbered({.loss_layers = 1});
    // Rows [0, n_1) have 8 n_1 nonzeros in columns [0, n_0), the next 100 have 800 in all.
    const Range rows = {0, n[1] + 100};
    const double needed = 1 - std::pow(1 - 1.0 / static_cast<double>(n[0]), 8.0 * static_cast<double>(n[1])) *
                                  std::pow(1 - 1.0 / 1000, 800);
    const double others = 1 - std::pow(1 - 1.0 / 1000, 800);
    const double expected = static_cast<double>(n[0]) * needed + static_cast<double>(1000 - n[0]) * others;
    EXPECT_NEAR(static_cast<double>(first->distinct_columns(forward_matrix, rows, {0, 1000})), expected, 1);
    EXPECT_EQ(first->distinct_columns(forward_matrix, {0, n[1]}, {n[0], 1000}), 0);
}

void expect_equal(const GraphStats& a, const GraphStats& b) {
    for (std::int64_t i = 0; i < 15; ++i) {
        const Range rows = balanced_block({0, a.vertices()}, i / 5, 3);
        const Range columns = balanced_block({0, a.vertices()}, i % 5, 5);
        for (const bool transposed : {false, true}) {
            EXPECT_EQ(a.row_nonzeros(MatrixId(transposed), rows), b.row_nonzeros(MatrixId(transposed), rows));
            EXPECT_EQ(a.block_nonzeros(MatrixId(transposed), rows, columns),
                      b.block_nonzeros(MatrixId(transposed), rows, columns));
            EXPECT_EQ(a.distinct_columns(MatrixId(transposed), rows, columns),
                      b.distinct_columns(MatrixId(transposed), rows, columns));
        }
    }
}

TEST(UniformStats, NumberingsThatChangeNothing) {
    const UniformStats all_train(101, 777, false);
    expect_equal(*all_train.numbered({.loss_layers = 3}), all_train);
    const UniformStats some_train(101, 777, true, 0.2);
    expect_equal(*some_train.numbered({}), some_train);
    expect_equal(*some_train.numbered({.parts = 4, .permuted = true, .seed = 7}), some_train);
    expect_equal(*some_train.numbered({.loss_layers = 2})->numbered({}), some_train);
    EXPECT_FALSE(some_train.numbered({})->exact());
    EXPECT_TRUE(some_train.numbered({})->symmetric());
    EXPECT_EQ(some_train.numbered({.loss_layers = 2})->nonzeros(), 777);
}

TEST(UniformStats, RefuseSizesThatAreNone) {
    EXPECT_THROW(UniformStats(0, 1, true), Error);
    EXPECT_THROW(UniformStats(1, -1, true), Error);
    EXPECT_THROW(UniformStats(1, 1, true, 1.5), Error);
    EXPECT_THROW(UniformStats(1, 1, true, std::nan("")), Error);
}

}  // namespace
}  // namespace gnnplan
