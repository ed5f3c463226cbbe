#include "bench/prediction/sample.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace gnnplan::bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

bool all_fit(std::size_t) { return true; }

// Seconds 1, 1.01, 1.0201, ...; the first ten of one kind, the next ten of another, and so on.
std::vector<Predicted> hundred() {
    std::vector<Predicted> list;
    for (int i = 0; i < 100; ++i) list.push_back({std::pow(1.01, i), "kind " + std::to_string(i / 10)});
    return list;
}

TEST(Sample, HasAllThatFitWhenThereIsNoLimitOrNoNeed) {
    const std::vector<Predicted> list{{1, "a"}, {2, "a"}, {3, "b"}};
    const auto odd = [](std::size_t i) { return i != 1; };
    EXPECT_THAT(choose_sample(list, 0, all_fit), ElementsAre(0, 1, 2));
    EXPECT_THAT(choose_sample(list, 3, odd), ElementsAre(0, 2));
    EXPECT_THAT(choose_sample({}, 5, all_fit), IsEmpty());
}

TEST(Sample, HasTheFastestOfSomeKindsAndSpreadsTheRest) {
    // Contenders 0, 10 and 20; the others at sixths of the range of 99: 16.5, 33, 49.5, 66, 82.5, 99.
    const auto sample = choose_sample(hundred(), 9, all_fit);
    ASSERT_THAT(sample, SizeIs(9));
    for (const std::size_t position : {0U, 10U, 20U, 33U, 66U, 99U}) EXPECT_THAT(sample, Contains(position));
}

TEST(Sample, ReplacesWhatDoesNotFitByTheNearest) {
    const auto fits = [](std::size_t i) { return i != 0 && i != 99; };
    const auto sample = choose_sample(hundred(), 9, fits);
    ASSERT_THAT(sample, SizeIs(9));
    EXPECT_THAT(sample, Not(Contains(0)));
    EXPECT_THAT(sample, Contains(1));
    EXPECT_THAT(sample, Contains(98));
}

TEST(Sample, AsksOnceWhetherOneFits) {
    std::vector<int> asked(100, 0);
    const auto fits = [&](std::size_t i) { return ++asked[i], i >= 95; };
    EXPECT_THAT(choose_sample(hundred(), 10, fits), ElementsAre(95, 96, 97, 98, 99));
    EXPECT_THAT(asked, ::testing::Each(1));
}

}  // namespace
}  // namespace gnnplan::bench
