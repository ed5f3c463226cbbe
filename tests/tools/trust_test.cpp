// The digits of predictions for machines that were measured and for those that were not.
#include "tools/text/trust.hpp"

#include <gtest/gtest.h>

namespace gnnplan::tools {
namespace {

TEST(Trust, APresetHasTwoDigits) {
    const Machine preset;
    EXPECT_EQ(format_seconds(0.00917, preset), "9.2 ms");
    EXPECT_EQ(format_seconds(0.1274, preset), "130 ms");
    EXPECT_EQ(format_seconds(0.000487, preset), "490 us");
    EXPECT_EQ(format_seconds(0.0999, preset), "100 ms");
    EXPECT_EQ(format_seconds(0.9996, preset), "1 s");
    EXPECT_EQ(format_seconds(2.73, preset), "2.7 s");
    EXPECT_EQ(format_seconds(0, preset), "0 ns");
    Machine measured;
    measured.measured = true;
    EXPECT_EQ(format_seconds(0.00917, measured), "9.17 ms");
    EXPECT_EQ(format_predicted(0.00917, false), "9.2 ms");
    EXPECT_EQ(format_predicted(0.00917, true), "9.17 ms");
}

}  // namespace
}  // namespace gnnplan::tools
