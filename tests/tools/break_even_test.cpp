// Crossings of curves and bisection of choices.
#include "tools/advise/sweep/break_even.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gnnplan::tools {
namespace {

constexpr double tolerance = 1e-3;
constexpr auto none = std::nullopt;

TEST(Crossing, FirstPointFromWhichOneStaysSlower) {
    // Slower at the second point already, but not for good.
    const auto found = crossing({"1d", {1, 3, 2, 5, 6}}, {"rdm", {1, 2, 3, 4, 2}}, tolerance);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->slower, "1d");
    EXPECT_EQ(found->faster, "rdm");
    EXPECT_FALSE(found->equal);
    EXPECT_FALSE(found->throughout);
    EXPECT_EQ(found->from, 3U);
    EXPECT_EQ(found->last, 4U);
    EXPECT_DOUBLE_EQ(found->ratio, 3);
}

TEST(Crossing, TheOrderOfTheCurvesDoesNotMatter) {
    const auto found = crossing({"rdm", {1, 2, 2}}, {"1d", {1, 4, 8}}, tolerance);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->slower, "1d");
    EXPECT_EQ(found->from, 1U);
    EXPECT_DOUBLE_EQ(found->ratio, 4);
}

TEST(Crossing, ThroughoutIsWhereverBothHaveATime) {
    const auto found = crossing({"a", {none, 3, 3, none}}, {"b", {5, 2, 1, 1}}, tolerance);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->throughout);
    EXPECT_EQ(found->from, 1U);
    EXPECT_EQ(found->last, 2U);
}

TEST(Crossing, WithinTheToleranceIsEqual) {
    const auto found = crossing({"a", {2, 1}}, {"b", {1, 1.0005}}, tolerance);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->equal);
    EXPECT_FALSE(found->throughout);
    EXPECT_EQ(found->from, 1U);
    EXPECT_FALSE(crossing({"a", {2, 1}}, {"b", {1, 1.0005}}, 1e-4)->equal);
}

TEST(Crossing, NothingInCommonIsNoAnswer) {
    EXPECT_FALSE(crossing({"a", {1, none}}, {"b", {none, 1}}, tolerance));
    EXPECT_FALSE(crossing({"a", {}}, {"b", {}}, tolerance));
}

// "slow" below 3, "middle" below 50, else "fast".
std::string choice(double at) { return at < 3 ? "slow" : at < 50 ? "middle" : "fast"; }

TEST(ChoiceChanges, EveryChangeIsFoundWithinThePrecision) {
    const auto changes = choice_changes({1, 10, 100, 1000}, choice, 0.01);
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_NEAR(changes[0].at, 3, 0.03);
    EXPECT_EQ(changes[0].below, "slow");
    EXPECT_EQ(changes[0].above, "middle");
    EXPECT_NEAR(changes[1].at, 50, 0.5);
    EXPECT_EQ(changes[1].above, "fast");
}

TEST(ChoiceChanges, BisectionFindsAThirdChoiceBetweenTwo) {
    const auto changes = choice_changes({1, 1000}, choice, 0.001);
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_NEAR(changes[0].at, 3, 0.003);
    EXPECT_NEAR(changes[1].at, 50, 0.05);
}

TEST(ChoiceChanges, NeighboursThatAgreeAreNotBisected) {
    int asked = 0;
    const auto changes = choice_changes(
        {1, 2, 4},
        [&](double) {
            ++asked;
            return std::string("same");
        },
        0.01);
    EXPECT_TRUE(changes.empty());
    EXPECT_EQ(asked, 3);
}

TEST(FirstHolding, TheValueFromWhichSomethingHoldsEitherWay) {
    const auto up = first_holding(
        {1, 10, 100}, [](double at) { return at > 30; }, 0.01);
    ASSERT_TRUE(up);
    EXPECT_GT(*up, 30);
    EXPECT_LT(*up, 30.4);
    const auto down = first_holding(
        {100, 10, 1}, [](double at) { return at < 30; }, 0.01);
    ASSERT_TRUE(down);
    EXPECT_LT(*down, 30);
    EXPECT_GT(*down, 29.6);
    EXPECT_EQ(first_holding(
                  {4, 8}, [](double) { return true; }, 0.01),
              4);
    EXPECT_FALSE(first_holding(
        {4, 8}, [](double) { return false; }, 0.01));
}

TEST(ChoiceChanges, PrecisionBelowThatOfNumbersEnds) {
    const auto changes = choice_changes({1, 4}, choice, 0);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_DOUBLE_EQ(changes[0].at, 3);
}

}  // namespace
}  // namespace gnnplan::tools
