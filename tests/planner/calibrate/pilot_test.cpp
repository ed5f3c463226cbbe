#include "planner/calibrate/pilot.hpp"

#include <gtest/gtest.h>

namespace gnnplan::calibrate {
namespace {

constexpr std::int64_t mib = 1 << 20;

ProbeFigures figures(double gemm, double copy, double near, double far, double exchange) {
    return {256 * mib, gemm, copy * 1e10, near, far, exchange, {}};
}
const ProbeFigures usual = figures(1, 1, 1, 1, 1);

double corrected(const char* what, std::vector<std::int64_t> at, const ProbeFigures& then) {
    Sample sample{what, std::move(at), {1.0, 2.0}};
    correct(sample, then, usual);
    EXPECT_DOUBLE_EQ(sample.seconds[1], 2 * sample.seconds[0]);
    return sample.seconds[0];
}

TEST(Pilot, CorrectsEveryKindByItsFigure) {
    const ProbeFigures then = figures(0.9, 0.8, 0.7, 0.6, 0.5);  // slow, so that times were too long
    EXPECT_DOUBLE_EQ(corrected("spmm", {128, 8 * mib, 1, 1}, then), 0.7);
    EXPECT_NEAR(corrected("spmm.add", {128, 256 * mib, 1, 1}, then), 0.6, 1e-12);
    const double middle = corrected("spmm.pass", {128, 32 * mib, 1, 1, 1}, then);
    EXPECT_GT(middle, 0.6);
    EXPECT_LT(middle, 0.7);
    EXPECT_DOUBLE_EQ(corrected("program.max", {16, 0, 16, mib, 1, 1}, then), 0.7);
    EXPECT_DOUBLE_EQ(corrected("stream.copy", {mib}, then), 0.7);
    EXPECT_DOUBLE_EQ(corrected("stream.copy", {64 * mib}, then), 0.8);
    EXPECT_DOUBLE_EQ(corrected("read", {mib}, then), 0.8);
    EXPECT_DOUBLE_EQ(corrected("load.rows", {1000}, then), 0.8);
    EXPECT_DOUBLE_EQ(corrected("loss", {1000, 8}, then), 0.9);
    EXPECT_DOUBLE_EQ(corrected("exchange.cold", {64, 1}, then), 0.5);
    EXPECT_DOUBLE_EQ(corrected("all_reduce.hot", {64, 1}, then), 0.5);
    EXPECT_DOUBLE_EQ(corrected("between.hot", {64, 1}, then), 1) << "not measured";
    EXPECT_DOUBLE_EQ(corrected("overlap.both", {1, 1, 1}, then), 1) << "compared with times of the same moment";
    EXPECT_DOUBLE_EQ(corrected("gemm.forward", {1000, 128, 128, 16}, then), 0.9);
    EXPECT_DOUBLE_EQ(corrected("gemm.forward", {std::int64_t{1} << 30, 8, 8, 16}, then), 0.8) << "bound by memory";
}

TEST(Pilot, FiguresAreLinearBetweenTwo) {
    const std::vector<Pilot> pilots{{10, usual}, {30, figures(2, 1, 1, 3, 1)}};
    EXPECT_EQ(figures_at(pilots, 0), usual);
    EXPECT_DOUBLE_EQ(figures_at(pilots, 20).gemm_flops_per_second, 1.5);
    EXPECT_DOUBLE_EQ(figures_at(pilots, 25).far_bytes_per_second, 2.5);
    EXPECT_EQ(figures_at(pilots, 99), pilots[1].figures);
}

TEST(Pilot, TheReferenceIsTheMiddleOfEachFigure) {
    const std::vector<Pilot> pilots{
        {0, figures(3, 1, 1, 1, 2)}, {1, figures(1, 2, 1, 1, 1)}, {2, figures(2, 3, 1, 1, 9)}};
    const ProbeReference reference = reference_of(pilots);
    EXPECT_EQ(reference.middle, figures(2, 2, 1, 1, 2));
    EXPECT_EQ(reference.least, figures(1, 1, 1, 1, 1));
    EXPECT_EQ(reference.most, figures(3, 3, 1, 1, 9));
    EXPECT_EQ(reference_of(std::span(pilots).first(2)).middle, figures(3, 2, 1, 1, 2)) << "the faster of two";
}

TEST(Pilot, AFigureBeyondATenthIsAnotherState) {
    EXPECT_FALSE(state_changed(usual, figures(1.05, 0.95, 1, 1, 1)));
    EXPECT_TRUE(state_changed(usual, figures(1, 1, 0.8, 1, 1)));
    EXPECT_TRUE(state_changed(usual, figures(1, 1, 1, 1, 1.2)));
}

}  // namespace
}  // namespace gnnplan::calibrate
