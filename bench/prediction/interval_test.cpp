#include "bench/prediction/interval.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace gnnplan::bench {
namespace {

// 1, 2, .., n, the last ones first.
std::vector<double> numbers(int n) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.rbegin(), values.rend(), 1.0);
    return values;
}

void expect_interval(int n, double low, double high) {
    const Interval interval = median_interval(numbers(n));
    EXPECT_EQ(interval.low, low) << n << " values";
    EXPECT_EQ(interval.high, high) << n << " values";
}

TEST(MedianInterval, OfFewValuesIsAllOfThem) {
    expect_interval(1, 1, 1);
    expect_interval(2, 1, 2);
    expect_interval(5, 1, 5);
    expect_interval(6, 1, 6);
    expect_interval(8, 1, 8);
}

// Ranks from the tables of the sign test at 5 %, both sides: 9 values leave out one at each end, 12 two, 25 seven.
TEST(MedianInterval, LeavesOutAsManyAsTheSignTestAllows) {
    expect_interval(9, 2, 8);
    expect_interval(12, 3, 10);
    expect_interval(15, 4, 12);
    expect_interval(25, 8, 18);
    expect_interval(100, 40, 61);
}

TEST(MedianInterval, IgnoresOutliers) {
    std::vector<double> values(20, 1.0);
    values[3] = 100;
    values[11] = 0.01;
    const Interval interval = median_interval(values);
    EXPECT_EQ(interval.low, 1);
    EXPECT_EQ(interval.high, 1);
}

}  // namespace
}  // namespace gnnplan::bench
