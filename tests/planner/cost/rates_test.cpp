#include "planner/cost/rates.hpp"
#include "tests/support/test_machine.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gnnplan {
namespace {

TEST(MessageSeconds, OneSegmentIsThePlainLine) {
    const Link line{2e-6, 4e9};
    const Link segment{1, 1, {{0, 2e-6, 4e9}}};
    for (const double bytes : {0.0, 1.0, 8191.0, 1e6, 1e9}) {
        EXPECT_DOUBLE_EQ(message_seconds(segment, bytes), message_seconds(line, bytes));
        EXPECT_DOUBLE_EQ(message_seconds(line, bytes), 2e-6 + bytes / 4e9);
    }
}

TEST(MessageSeconds, FollowTheSegmentOfTheirSize) {
    const Link link{0, 1, {{0, 1e-6, 1e9}, {10'000, 5e-6, 2e9}, {1'000'000, 1e-4, 1e10}}};
    EXPECT_DOUBLE_EQ(message_seconds(link, 0), 1e-6);
    EXPECT_DOUBLE_EQ(message_seconds(link, 5'000), 6e-6);
    EXPECT_DOUBLE_EQ(message_seconds(link, 20'000), 1.5e-5);
    // At the border of the second and third line: 505 and 200 microseconds; the line passes that at 4,050,000 bytes.
    EXPECT_DOUBLE_EQ(message_seconds(link, 1'000'000), 5.05e-4);
    EXPECT_DOUBLE_EQ(message_seconds(link, 2'000'000), 5.05e-4);
    EXPECT_DOUBLE_EQ(message_seconds(link, 10'000'000), 1.1e-3);
}

TEST(MessageSeconds, DoNotFallAsBytesGrow) {
    const Link link{0, 1, {{0, 1e-5, 1e9}, {4'096, 0, 1e9}, {65'536, 2e-6, 8e9}, {1 << 20, 0, 3e9}}};
    double before = 0;
    for (double bytes = 0; bytes < 1e7; bytes = bytes * 1.01 + 1) {
        const double seconds = message_seconds(link, bytes);
        ASSERT_GE(seconds, before) << bytes;
        before = seconds;
    }
}

// Rates of products whose rows take these nanoseconds, the products of all pairs of sides.
template <class Nanoseconds>
std::vector<GemmRate> rates_of(GemmKind product, const std::vector<std::int64_t>& sides, const Nanoseconds& of) {
    std::vector<GemmRate> rates;
    for (const std::int64_t inner : sides) {
        for (const std::int64_t columns : sides) {
            const auto flops = static_cast<double>(2 * inner * columns);
            rates.push_back({product, inner, columns, flops / (1e-9 * of(inner, columns))});
        }
    }
    return rates;
}

double nanoseconds(const Machine& m, GemmKind product, std::int64_t inner, std::int64_t columns) {
    return 1e9 * static_cast<double>(2 * inner * columns) / gemm_flops_per_second(m, product, inner, columns);
}

TEST(GemmRate, IsBilinearInTimesOfRows) {
    Machine m = test::round_machine();
    EXPECT_EQ(gemm_flops_per_second(m, GemmKind::forward, 64, 64), 1e11) << "the single rate";
    const auto row = [](std::int64_t inner, std::int64_t columns) {
        const auto k = static_cast<double>(inner), n = static_cast<double>(columns);
        return 3 + 0.2 * k + 0.5 * n + 0.03 * k * n;
    };
    m.calibration = Calibration{.gemm = rates_of(GemmKind::forward, {16, 64, 256}, row)};
    for (const auto& [inner, columns] : {std::pair(16, 16), {64, 256}, {40, 41}, {200, 17}, {256, 100}}) {
        EXPECT_NEAR(nanoseconds(m, GemmKind::forward, inner, columns) / row(inner, columns), 1, 1e-9);
    }
    EXPECT_NEAR(nanoseconds(m, GemmKind::forward, 2, 3), row(16, 16), 1e-9) << "no less than the smallest";
    EXPECT_NEAR(nanoseconds(m, GemmKind::forward, 2560, 512), 20 * row(256, 256), 1e-6) << "in proportion beyond";
    EXPECT_EQ(gemm_flops_per_second(m, GemmKind::weight_gradient, 64, 64), 1e11) << "not measured";
}

// Tiles of 6 rows and two vectors of 16 columns, or one where no more are left; a tile stores its sums after its steps.
TEST(GemmRate, ReproducesTiles) {
    const auto row = [](std::int64_t inner, std::int64_t result) {
        const std::int64_t vectors = (result + 15) / 16;
        const auto two = static_cast<double>(vectors / 2), one = static_cast<double>(vectors % 2);
        const auto k = static_cast<double>(inner);
        return 0.2 * k + (two + 0.52 * one) * (0.7 * k + 9);
    };
    const std::vector<std::int64_t> measured{8, 40, 64, 100, 128, 256, 602};
    for (const GemmKind product : {GemmKind::forward, GemmKind::input_gradient, GemmKind::weight_gradient}) {
        const bool turned = product == GemmKind::input_gradient;
        const auto time = [&](std::int64_t inner, std::int64_t columns) {
            return turned ? row(columns, inner) : row(inner, columns);
        };
        Machine m = test::round_machine();
        m.calibration = Calibration{.gemm = rates_of(product, measured, time), .gemm_lanes = 16};
        for (const std::int64_t inner : {41, 47, 100, 128, 602}) {
            for (const std::int64_t columns : {7, 41, 47, 100, 602}) {
                const auto [k, n] = turned ? std::pair(columns, inner) : std::pair(inner, columns);
                EXPECT_NEAR(nanoseconds(m, product, k, n) / time(k, n), 1, 0.02) << k << " x " << n;
            }
        }
    }
}

TEST(GemmRate, OfScatteredShapesIsWeightedByDistance) {
    Machine m = test::round_machine();
    m.calibration = Calibration{.gemm = {{GemmKind::forward, 64, 64, 1e10}, {GemmKind::forward, 256, 256, 3e10}}};
    const auto rate = [&](std::int64_t inner, std::int64_t columns) {
        return gemm_flops_per_second(m, GemmKind::forward, inner, columns);
    };
    EXPECT_DOUBLE_EQ(rate(64, 64), 1e10);
    EXPECT_DOUBLE_EQ(rate(256, 256), 3e10);
    EXPECT_DOUBLE_EQ(rate(128, 128), 2e10) << "as far from both";
    EXPECT_DOUBLE_EQ(rate(64, 256), 2e10);
    EXPECT_DOUBLE_EQ(rate(64, 128), (1e10 / 1 + 3e10 / 5) / (1.0 / 1 + 1.0 / 5)) << "1 and 4 + 1 octaves squared";
    EXPECT_DOUBLE_EQ(rate(64, 32), 0.5e10) << "as long as 64 columns";
}

TEST(StreamRate, IsThatOfItsKindAndWorkingSet) {
    Machine m = test::round_machine();
    EXPECT_EQ(elementwise_bytes_per_second(m, ElementwiseKind::loss, 1000), 1e10) << "the single rate";
    m.calibration = Calibration{.streams = {{ElementwiseKind::copy, 1 << 10, 8e10},
                                            {ElementwiseKind::copy, 1 << 20, 2e10},
                                            {ElementwiseKind::loss, 1 << 15, 1e9}}};
    EXPECT_DOUBLE_EQ(elementwise_bytes_per_second(m, ElementwiseKind::loss, 1 << 25), 1e9);
    EXPECT_DOUBLE_EQ(elementwise_bytes_per_second(m, ElementwiseKind::copy, 1 << 15), 5e10);
    EXPECT_DOUBLE_EQ(elementwise_bytes_per_second(m, ElementwiseKind::copy, 1), 8e10);
    EXPECT_DOUBLE_EQ(elementwise_bytes_per_second(m, ElementwiseKind::copy, 0), 8e10);
    EXPECT_DOUBLE_EQ(elementwise_bytes_per_second(m, ElementwiseKind::score, 1 << 30), 2e10) << "counts as a copy";
    EXPECT_DOUBLE_EQ(elementwise_bytes_per_second(m, ElementwiseKind::narrow, 1 << 30), 2e10) << "a copy, likewise";
    m.calibration->streams.push_back({ElementwiseKind::narrow, 1 << 20, 3e10});
    EXPECT_DOUBLE_EQ(elementwise_bytes_per_second(m, ElementwiseKind::narrow, 1 << 30), 3e10);
    EXPECT_DOUBLE_EQ(elementwise_bytes_per_second(m, ElementwiseKind::widen, 1 << 30), 2e10) << "not that of narrow";
}

Calibration gather() {
    return {.gather = {{16, {{1 << 10, 1e-9}, {1 << 14, 1e-9}, {1 << 20, 4e-9}}, 1e-8},
                       {64, {{1 << 14, 2e-9}, {1 << 20, 2e-9}}, 4e-8}}};
}

// Measured times are means over all distances up to the working set.
TEST(GatherSeconds, UpToAWorkingSetAreThoseMeasured) {
    for (const double bytes : {1024.0, 16384.0, 1048576.0}) {
        double sum = 0;
        for (double from = 0, to = bytes / 64; from < bytes; from = to, to *= 2) {
            sum += gather_seconds(gather(), 16, from, to) * (to - from);
        }
        const double measured = bytes > 1e6 ? 4e-9 : 1e-9;
        EXPECT_NEAR(gather_seconds(gather(), 16, 0, bytes), measured, 1e-15);
        EXPECT_NEAR(sum / bytes, measured, 1e-15) << "in parts";
    }
}

TEST(GatherSeconds, AtADistanceFollowFromTheMeans) {
    // g doubles per 64-fold working set: slope 3e-9 / ln 64 by ln W. Between W / 2 and W: 2 g(W) - g(W / 2).
    const double half = 4e-9 - 3e-9 / 6;
    EXPECT_NEAR(gather_seconds(gather(), 16, 1 << 19, 1 << 20), 2 * 4e-9 - half, 1e-15);
    EXPECT_NEAR(gather_seconds(gather(), 16, 1 << 22, 1 << 23), 4e-9 + 3e-9 / std::log(64), 1e-15) << "beyond";
    EXPECT_NEAR(gather_seconds(gather(), 16, 0, 1), 1e-9, 1e-15);
}

TEST(GatherSeconds, AreLinearInTheWidth) {
    const double at = 1 << 12;
    EXPECT_NEAR(gather_seconds(gather(), 4, 0, at), 1e-9, 1e-15) << "no less than the narrowest";
    EXPECT_NEAR(gather_seconds(gather(), 40, 0, at), 1.5e-9, 1e-15);
    EXPECT_NEAR(gather_seconds(gather(), 128, 0, at), 4e-9, 1e-15) << "twice the widest";
    EXPECT_NEAR(row_seconds(gather(), 40), 2.5e-8, 1e-15);
    EXPECT_NEAR(row_seconds(gather(), 128), 8e-8, 1e-15);
}

TEST(GatherSeconds, AreNeverLessThanTheCheapest) {
    const Calibration noisy{.gather = {{16, {{1 << 10, 9e-9}, {1 << 11, 1e-9}}, 0}}};
    EXPECT_DOUBLE_EQ(gather_seconds(noisy, 16, 1 << 10, 1 << 11), 1e-9);
}

}  // namespace
}  // namespace gnnplan
