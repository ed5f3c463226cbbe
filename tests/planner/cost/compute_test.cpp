#include "planner/cost/compute.hpp"

#include "planner/cost/tie.hpp"
#include "tests/support/test_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace gnnplan::cost {
namespace {

TEST(Compute, AtSingleRates) {
    RankWork work;
    work.sparse_flops = 2e9;
    work.sparse_width = 8;
    EXPECT_DOUBLE_EQ(compute_seconds(work, test::round_machine()), 2.0);
    work.dense_flops = 1e11;
    work.streamed_bytes = 6'000'000'000;
    work.staged_bytes = 4'000'000'000;
    EXPECT_DOUBLE_EQ(compute_seconds(work, test::round_machine()), 4.0);
    Machine nothing_measured = test::round_machine();
    nothing_measured.calibration = Calibration{};
    EXPECT_DOUBLE_EQ(compute_seconds(work, nothing_measured), 4.0);
}

TEST(Compute, AtCalibratedRates) {
    Machine m = test::round_machine();
    m.calibration =
        Calibration{.gemm = {{GemmKind::weight_gradient, 64, 32, 5e10}},
                    .streams = {{ElementwiseKind::copy, 1 << 20, 2e10}, {ElementwiseKind::update, 1 << 20, 4e9}}};
    RankWork work;
    work.dense_flops = 1e11;
    work.product = GemmKind::weight_gradient;
    work.inner = 64;
    work.columns = 32;
    work.stream = ElementwiseKind::update;
    work.streamed_bytes = 8'000'000'000;
    work.staged_bytes = 20'000'000'000;
    EXPECT_DOUBLE_EQ(compute_seconds(work, m), 2.0 + 2.0 + 1.0);
    work.product = GemmKind::forward;
    EXPECT_DOUBLE_EQ(compute_seconds(work, m), 1.0 + 2.0 + 1.0) << "forward products were not measured";
}

// Bytes that are in cache take as long as those of the fastest smaller working set.
TEST(Compute, OfBytesInCacheAtTheFastestRate) {
    Machine m = test::round_machine();
    m.calibration = Calibration{.streams = {{ElementwiseKind::activate, 1 << 16, 2e10},
                                            {ElementwiseKind::activate, 1 << 20, 4e10},
                                            {ElementwiseKind::activate, 1 << 26, 1e10}}};
    RankWork work;
    work.stream = ElementwiseKind::activate;
    work.streamed_bytes = 1 << 26;
    EXPECT_DOUBLE_EQ(compute_seconds(work, m), (1 << 26) / 1e10);
    work.in_cache = true;
    EXPECT_DOUBLE_EQ(compute_seconds(work, m), (1 << 26) / 4e10);
    work.streamed_bytes = 1 << 18;
    EXPECT_DOUBLE_EQ(compute_seconds(work, m), (1 << 18) / 3e10) << "no larger one";
    m.calibration = std::nullopt;
    EXPECT_DOUBLE_EQ(compute_seconds(work, m), (1 << 18) / m.memory_bytes_per_second);
}

// A cache of 1 MiB: a nonzero takes 1 ns from it and 9 ns from memory at width 16, twice that at 32. Random columns
// from a working set of W hit it with probability 1 MiB / W.
Machine cache() {
    GatherCurve curve{16, {}, 1e-7};
    for (int exponent = 10; exponent <= 26; ++exponent) {
        const double hits = std::min(1.0, std::exp2(20 - exponent));
        curve.costs.push_back({std::int64_t{1} << exponent, hits * 1e-9 + (1 - hits) * 9e-9});
    }
    Calibration calibration{.gather = {curve, curve}};
    calibration.gather[1].width = 32;
    calibration.gather[1].seconds_per_row = 2e-7;
    for (GatherCost& cost : calibration.gather[1].costs) cost.seconds_per_nonzero *= 2;
    Machine m = test::round_machine();
    m.calibration = calibration;
    return m;
}

TEST(SparseSeconds, ByDistanceAndRow) {
    // The two sides of the cache's size, in rows of 64 bytes: 2^14.
    SpmmReuse reuse;
    reuse.histogram.first_uses = 1e-9;  // next to none
    reuse.histogram.most_distinct = 1 << 20;
    reuse.histogram.spread(1000, 1 << 10, 1 << 11);
    EXPECT_NEAR(sparse_seconds(reuse, 16, cache()).total(), 1000 * 1e-9, 1e-11) << "in cache";
    reuse.histogram.spread(1000, 1 << 17, 1 << 18);
    EXPECT_NEAR(sparse_seconds(reuse, 16, cache()).total(), 1000 * 1e-9 + 1000 * 9e-9, 1e-9) << "in memory";
    reuse.rows = 50;
    EXPECT_NEAR(sparse_seconds(reuse, 16, cache()).total(), 15e-6, 1e-9) << "and 50 rows of 0.1 us";
    EXPECT_NEAR(sparse_seconds(reuse, 24, cache()).total(), 1.5 * 15e-6, 2e-9) << "half-way to twice as much";
    reuse.share = 0.25;
    EXPECT_NEAR(sparse_seconds(reuse, 16, cache()).total(), 2.5e-6 + 5e-6, 1e-9) << "a quarter of the nonzeros";
    reuse.histogram.row_sweeps = reuse.histogram.row_visits = 400;
    EXPECT_NEAR(sparse_seconds(reuse, 16, cache()).total(), 2.5e-6 + 10e-6 + 50 * 128 / 1e10, 1e-9)
        << "a quarter of the visits, those beyond 50 with a copy of 64 bytes";
}

// 100 rows in four panels, each of which has nonzeros for 30 of them: 100 are stored, 90 added to, 210 passed.
TEST(SparseSeconds, RowsWithoutNonzerosAreStoredOnceAndThenPassed) {
    SpmmReuse reuse;
    reuse.rows = 100;
    reuse.histogram.row_sweeps = 400;
    reuse.histogram.row_visits = 120;
    reuse.histogram.row_changes = 80;
    Machine m = cache();
    m.calibration->gather[0].seconds_per_row_again = m.calibration->gather[1].seconds_per_row_again = 1e-8;
    const double added = 100 * 1e-7 + 90 * 1.1e-7;
    EXPECT_NEAR(sparse_seconds(reuse, 16, m).total(), added, 1e-12) << "nothing is known of passing";
    m.calibration->gather[0].passing = PassingCost{5e-9, 2e-8};
    EXPECT_NEAR(sparse_seconds(reuse, 16, m).total(), added + 210 * 5e-9 + 60 * 2e-8, 1e-12);
    EXPECT_NEAR(sparse_seconds(reuse, 32, m).total(), added + 190 * 1e-7 + 2 * (210 * 5e-9 + 60 * 2e-8), 1e-12)
        << "beyond the widest at which passing was measured in proportion";
    reuse.share = 0.5;
    EXPECT_NEAR(sparse_seconds(reuse, 16, m).total(), 100 * 1e-7 + 30 * 1.1e-7 + 70 * 5e-9 + 20 * 2e-8, 1e-12)
        << "two panels";
    reuse.share = 0.25;
    EXPECT_NEAR(sparse_seconds(reuse, 16, m).total(), 100 * 1e-7, 1e-12) << "one panel stores them all";
}

// 2^10 .. 2^11 rows of 64 bytes would be in cache. Each nonzero passes 8 bytes: 2^17 of them are 1 MiB.
TEST(SparseSeconds, WhatPassesBetweenTwoUsesTakesCacheToo) {
    const auto with = [](double nonzeros) {
        SpmmReuse reuse;
        reuse.histogram.first_uses = 1e-9;
        reuse.histogram.most_distinct = 1 << 20;
        reuse.histogram.spread(1000, 1 << 10, 1 << 11, nonzeros);
        return sparse_seconds(reuse, 16, cache()).total();
    };
    EXPECT_DOUBLE_EQ(with(2 << 10), with(0)) << "as many as of random columns";
    EXPECT_NEAR(with(1 << 14), 1000 * 1e-9, 1e-11);
    EXPECT_NEAR(with(1 << 22), 1000 * 9e-9, 2e-7);
}

TEST(SparseSeconds, FirstUsesComeFromAllOfTheirPiece) {
    SpmmReuse reuse;
    reuse.histogram.first_uses = reuse.histogram.most_distinct = 1 << 18;
    EXPECT_NEAR(sparse_seconds(reuse, 16, cache()).total(), (1 << 18) * 9e-9, 1e-9) << "16 MiB";
    reuse.pieces = 64;
    EXPECT_NEAR(sparse_seconds(reuse, 16, cache()).total(), (1 << 18) * 1e-9, 1e-9) << "256 KiB each";
}

TEST(SparseSeconds, OfNothing) {
    EXPECT_EQ(sparse_seconds({}, 16, cache()).total(), 0);
    SpmmReuse empty_rows;
    empty_rows.rows = 3;
    EXPECT_EQ(sparse_seconds(empty_rows, 16, cache()).total(), 3 * 1e-7) << "they are written";
}

// Matrices like those that were measured get their own times, whatever the curve, whether or not the number of their
// columns is a power of two.
TEST(SparseSeconds, OfTheMeasuredMatricesAreThoseMeasured) {
    const Machine m = cache();
    for (const std::int64_t width : {16, 32}) {
        const GatherCurve& curve = m.calibration->gather[width == 16 ? 0 : 1];
        for (const GatherCost& cost : curve.costs) {
            const std::int64_t columns = cost.working_set_bytes / (4 * width);
            for (const std::int64_t degree : {4, 32}) {
                const std::int64_t nonzeros = degree * columns;
                SpmmReuse reuse;
                reuse.histogram =
                    UniformStats(columns, nonzeros, true).reuse(forward_matrix, {0, columns}, {0, columns}, 0);
                reuse.rows = static_cast<double>(columns);
                const double measured = static_cast<double>(nonzeros) * cost.seconds_per_nonzero +
                                        static_cast<double>(columns) * curve.seconds_per_row;
                EXPECT_NEAR(sparse_seconds(reuse, width, m).total() / measured, 1, 0.02)
                    << width << " " << columns << " " << degree;
            }
        }
    }
    SpmmReuse odd;
    odd.histogram = UniformStats(100'003, 3'200'000, true).reuse(forward_matrix, {0, 100'003}, {0, 100'003}, 0);
    odd.histogram.row_visits = 0;
    const double hits = (1 << 20) / (64.0 * 100'003);
    EXPECT_NEAR(sparse_seconds(odd, 16, m).total() / (3.2e6 * (hits * 1e-9 + (1 - hits) * 9e-9)), 1, 0.03);
}

TEST(Tie, WithinTheErrorOfTheShorter) {
    Machine m = test::round_machine();
    EXPECT_EQ(model_error(m), error_unmeasured);
    EXPECT_TRUE(tie(1, 1.24, m));
    EXPECT_FALSE(tie(1.26, 1, m));
    m.calibration = Calibration{.error_median = 0.05};
    EXPECT_EQ(model_error(m), 0.05);
    EXPECT_TRUE(tie(1.04, 1, m));
    EXPECT_FALSE(tie(1, 1.06, m));
    m.calibration->error_median = 0;
    EXPECT_TRUE(tie(1, 1, m));
    EXPECT_FALSE(tie(1, 1.0001, m));
}

}  // namespace
}  // namespace gnnplan::cost
