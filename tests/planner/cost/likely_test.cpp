#include "planner/cost/likely.hpp"
#include "tests/support/test_machine.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gnnplan::cost {
namespace {

constexpr double z = 1.2816;

Machine machine() {
    Machine m = test::round_machine();
    m.calibration.emplace().corrections = {{ModelPart::spmm, 1, 0, 0.05}, {ModelPart::gemm, 1, 0, 0.02}};
    return m;
}

Prediction prediction(double spmm, double gemm) {
    Prediction made;
    made.epoch_seconds = spmm + gemm;
    made.by_part = {{ModelPart::spmm, spmm}, {ModelPart::gemm, gemm}};
    return made;
}

TEST(Likely, ErrorsOfOnePartAddUpAndThoseOfDifferentPartsDoNot) {
    const Interval one = likely_seconds(prediction(1, 0), machine());
    EXPECT_NEAR(one.high, std::exp(z * 0.05), 1e-9);
    EXPECT_NEAR(one.low, std::exp(-z * 0.05), 1e-9);
    const Interval both = likely_seconds(prediction(3, 4), machine());
    EXPECT_NEAR(std::log(both.high / 7), z * std::hypot(3 * 0.05, 4 * 0.02) / 7, 1e-9);
}

TEST(Likely, WithoutEpochsTheMedianErrorIsThatOfANormalDistribution) {
    Machine m = test::round_machine();
    m.calibration.emplace().error_median = 0.06745;
    Prediction made;
    made.epoch_seconds = 2;
    EXPECT_NEAR(std::log(likely_seconds(made, m).high / 2), z * 0.1, 1e-9);
}

// Four in five of the true times of a machine whose parts err as it says lie within.
TEST(Likely, CoversFourOfFive) {
    const Prediction made = prediction(3, 4);
    const Interval likely = likely_seconds(made, machine());
    int inside = 0;
    constexpr int draws = 2000;
    for (int i = 0; i < draws; ++i) {
        // Two independent normal deviates by Box and Muller, from points that fill the square evenly.
        const double u = (i + 0.5) / draws, v = std::fmod(i * 0.6180339887498949, 1);
        const double radius = std::sqrt(-2 * std::log(u)), angle = 2 * std::acos(-1.0) * v;
        const double truth =
            3 * std::exp(0.05 * radius * std::cos(angle)) + 4 * std::exp(0.02 * radius * std::sin(angle));
        inside += truth >= likely.low && truth <= likely.high ? 1 : 0;
    }
    EXPECT_NEAR(inside / double{draws}, 0.8, 0.03);
}

TEST(Ties, StepsInCommonCancel) {
    const Machine m = machine();
    // They differ in 5 % of the dense products alone, 0.2 s of 14: far less than either time is known to.
    const Prediction a = prediction(10, 4), b = prediction(10, 4.2);
    EXPECT_GT(likely_seconds(a, m).high, b.epoch_seconds);
    EXPECT_FALSE(tie(a, b, m)) << "more dense products of the same kind take longer";
    // One has more of one part, the other of another.
    EXPECT_TRUE(tie(prediction(10, 4), prediction(9, 5.05), m));
    EXPECT_FALSE(tie(prediction(10, 4), prediction(9, 7), m));
    EXPECT_TRUE(tie(a, a, m));
}

TEST(Ties, OfPartsThatNoEpochHasShownAreWide) {
    Prediction a = prediction(1, 0), b = prediction(1, 0);
    b.by_part.push_back({ModelPart::loss, 0.2});
    b.epoch_seconds += 0.2;
    EXPECT_FALSE(tie(a, b, machine())) << "0.2 s, known to 25 %";
    a.by_part.front().seconds = 1.15;
    a.epoch_seconds = 1.15;
    EXPECT_TRUE(tie(a, b, machine())) << "0.05 s, and 0.2 s that are known to 25 % make the difference";
}

TEST(Ties, WithoutPartsAreOfTotals) {
    Machine m = test::round_machine();
    Prediction a, b;
    a.epoch_seconds = 1;
    b.epoch_seconds = 1.2;
    EXPECT_TRUE(tie(a, b, m)) << "a machine that nobody has measured";
    b.epoch_seconds = 1.3;
    EXPECT_FALSE(tie(a, b, m));
}

}  // namespace
}  // namespace gnnplan::cost
