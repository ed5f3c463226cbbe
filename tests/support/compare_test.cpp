// A comparison that cannot fail proves nothing: each helper is shown a difference it must see.
#include "tests/support/compare.hpp"

#include <limits>

namespace gnnplan::testing {
namespace {

const std::vector<double> expected = {1.0, -200.0, 0.5};

StepRecord record() {
    StepRecord step;
    step.name = "forward.1.redistribute";
    step.predicted_bytes_by_rank = step.counted_bytes_by_rank = {12, 0, 40};
    step.predicted_bytes = step.counted_bytes = 52;
    return step;
}

TEST(Close, AcceptsWithinAndRefusesBeyondTheTolerance) {
    EXPECT_TRUE(close(1.0001, 1.0, 1.01e-4));
    EXPECT_FALSE(close(1.0001, 1.0, 0.99e-4));
    EXPECT_TRUE(close(1e-9, 0.0, 1e-4, 1e-8));
    EXPECT_FALSE(close(1e-7, 0.0, 1e-4, 1e-8));
    EXPECT_FALSE(close(std::numeric_limits<double>::quiet_NaN(), 1.0, 1e-4));
}

TEST(CloseArrays, ScaleIsTheLargestExpectedValue) {
    EXPECT_TRUE(close(std::vector<float>{1.015F, -200.0F, 0.5F}, expected, 1e-4));
    EXPECT_FALSE(close(std::vector<float>{1.0F, -200.0F, 0.525F}, expected, 1e-4));
    EXPECT_FALSE(close(std::vector<double>{1.0, -200.0, 0.525}, expected, 1e-4));
}

TEST(CloseArrays, RefusesOtherLengthsAndNaN) {
    EXPECT_FALSE(close(std::vector<float>{1.0F, -200.0F}, expected, 1.0));
    EXPECT_FALSE(close(std::vector<float>{1.0F, std::numeric_limits<float>::quiet_NaN(), 0.5F}, expected, 1.0));
}

TEST(Within, EveryElementHasItsOwnTolerance) {
    const std::vector<float> actual = {1.5F, -200.0F, 0.5F};
    EXPECT_TRUE(within(actual, expected, std::vector<double>{0.5, 0, 0}));
    EXPECT_FALSE(within(actual, expected, std::vector<double>{0.49, 1, 1}));
    EXPECT_FALSE(within(actual, expected, std::vector<double>{1, 1}));
}

TEST(BytesAsPredicted, AcceptsEqualBytes) { EXPECT_TRUE(bytes_as_predicted({record(), record()})); }

TEST(BytesAsPredicted, SeesOneByteOnOneRank) {
    StepRecord step = record();
    step.counted_bytes_by_rank = {13, 0, 39};  // the sum is right
    EXPECT_FALSE(bytes_as_predicted({record(), step}));
}

TEST(BytesAsPredicted, SeesMissingRanksAndWrongSums) {
    StepRecord fewer = record();
    fewer.counted_bytes_by_rank.pop_back();
    EXPECT_FALSE(bytes_as_predicted({fewer}));
    StepRecord none = record();
    none.counted_bytes_by_rank.clear();
    none.predicted_bytes_by_rank.clear();
    EXPECT_FALSE(bytes_as_predicted({none}));
    StepRecord predicted = record();
    predicted.predicted_bytes += 1;
    EXPECT_FALSE(bytes_as_predicted({predicted}));
    StepRecord counted = record();
    counted.counted_bytes -= 1;
    EXPECT_FALSE(bytes_as_predicted({counted}));
}

}  // namespace
}  // namespace gnnplan::testing
