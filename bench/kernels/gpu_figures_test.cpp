#include "bench/kernels/gpu_figures.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gnnplan::bench {
namespace {

Times always(double seconds) { return summary({seconds}); }

// Ours and two algorithms of the library, all without spread.
SpmmCase spmm(const std::string& graph, std::int64_t width, double ours, double first, double second) {
    return {graph, width, 1000, {"gnnplan", always(ours)}, {{"a", always(first)}, {"b", always(second)}}};
}

TEST(GpuFigures, SummariesHaveMedianExtremesAndQuartiles) {
    const Times odd = summary({5, 1, 3, 2, 4});
    EXPECT_EQ(odd.median, 3);
    EXPECT_EQ(odd.least, 1);
    EXPECT_EQ(odd.most, 5);
    EXPECT_EQ(odd.low, 2);
    EXPECT_EQ(odd.high, 4);
    EXPECT_EQ(odd.spread(), 2);
    EXPECT_EQ(summary({4, 1}).median, 2.5);
    EXPECT_EQ(summary({7}).spread(), 0);
}

TEST(GpuFigures, BoundsAreBytesOverRates) {
    const SpmmCase each = spmm("reddit", 16, 2, 3, 5);  // 1000 * 72 bytes
    const Rates rates = {36000, 144000};
    EXPECT_DOUBLE_EQ(each.over_no_reuse(rates), 1);
    EXPECT_DOUBLE_EQ(each.over_l2(rates), 4);
    EXPECT_EQ(each.fastest().name, "a");
    EXPECT_DOUBLE_EQ(each.gain(), 1.5);
}

TEST(GpuFigures, ADifferenceIsJudgedByTheLargerSpread) {
    SpmmCase each = spmm("mid", 5, 4, 2, 9);
    EXPECT_TRUE(std::isinf(each.slower_over_spread())) << "no spread, and slower";
    each.library.front().times = {.median = 2, .low = 1, .high = 5};
    EXPECT_DOUBLE_EQ(each.slower_over_spread(), 0.5);
    each.ours.times = {.median = 1, .low = 0, .high = 9};
    EXPECT_EQ(each.slower_over_spread(), 0);
}

TEST(GpuFigures, GemmsAreHeldToTheLongerOfArithmeticAndMemory) {
    const GemmCase each = {"X W", 10, 4, 5, always(2)};
    EXPECT_EQ(each.operations(), 400);
    EXPECT_EQ(each.bytes(), 4 * (40 + 20 + 50));
    EXPECT_DOUBLE_EQ(each.share(200, {1e9, 1e9}), 1);    // 2 s by the peak
    EXPECT_DOUBLE_EQ(each.share(1e9, {220, 1e9}), 1);    // 2 s by the memory
    EXPECT_DOUBLE_EQ(each.share(400, {440, 1e9}), 0.5);  // 1 s by either
    const GemmCase slower = {"G W^T", 10, 4, 5, always(4)};
    const std::vector<Bar> bars = gemm_bars({each, slower}, 200, {1e9, 1e9});
    ASSERT_EQ(bars.size(), 1U);
    EXPECT_DOUBLE_EQ(bars[0].value, 0.5);
    EXPECT_FALSE(bars[0].met());
}

TEST(GpuFigures, BarsSpeakOfTheCasesThatWereMeasured) {
    const Rates rates = {1000 * 72, 1e9};
    const std::vector<Bar> few = spmm_bars({spmm("mid", 41, 1, 1.2, 2)}, rates);
    ASSERT_EQ(few.size(), 2U) << "no narrow one, none of reddit or products";
    EXPECT_DOUBLE_EQ(few[1].value, 1.2);
    EXPECT_TRUE(few[0].met() && few[1].met());

    const std::vector<Bar> all = spmm_bars(
        {spmm("reddit", 16, 0.5, 1, 1), spmm("reddit", 64, 1, 1.21, 3), spmm("products", 16, 2, 1, 1)}, rates);
    ASSERT_EQ(all.size(), 6U);
    EXPECT_TRUE(std::isinf(all[0].value));                        // products
    EXPECT_NEAR(all[1].value, std::cbrt(2 * 1.21 * 0.5), 1e-12);  // of all
    EXPECT_NEAR(all[2].value, 1, 1e-12);                          // 2 and 0.5
    EXPECT_NEAR(all[3].value, 1.21, 1e-12);                       // reddit, 64
    EXPECT_NEAR(all[4].value, 0.5, 1e-12);                        // of 72 and 264 bytes a nonzero
    EXPECT_NEAR(all[5].value, 2, 1e-12);
    EXPECT_FALSE(all[3].met());
    EXPECT_TRUE(all[4].met());
    EXPECT_FALSE(all[5].met());
}

}  // namespace
}  // namespace gnnplan::bench
