// The sentences of a sweep, and how few there are.
#include "tools/advise/sweep/sweep_sentences.hpp"
#include "tests/tools/sweep_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace gnnplan::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::names;
using ::testing::Not;
using testing::numbers;
using testing::sweep_of;
using Texts = std::vector<std::string>;

// One problem, five ways to compute it.
Sweep schemes_once() {
    const std::map<std::string, double> milliseconds{
        {"1d", 100}, {"1.5d", 107}, {"rdm", 113}, {"2d", 140}, {"paper", 230}};
    return sweep_of({names("scheme", {"rdm", "1d", "paper", "2d", "1.5d"}), numbers("ranks", {8})},
                    [&](const Texts& at) { return milliseconds.at(at[0]); });
}

TEST(SweepSentences, OneSentencePerGroupNamesTheTies) {
    EXPECT_THAT(sweep_sentences(schemes_once()),
                ElementsAre("1d is fastest, 1.5d 7 %, rdm 13 % behind (a tie within 25 %), 2d 40 %, paper 2.3x"));
    // A machine that was calibrated errs by what was found there.
    Sweep calibrated = schemes_once();
    calibrated.machine.calibration.emplace().error_median = 0.1;
    EXPECT_THAT(sweep_sentences(calibrated),
                ElementsAre("1d is fastest, 1.5d 7 % behind (a tie within 10 %), rdm 13 %, 2d 40 %, paper 2.3x"));
}

TEST(SweepSentences, NoneIsThroughoutOneValueOrOnceAsSlow) {
    for (const std::string& sentence : sweep_sentences(schemes_once())) {
        EXPECT_THAT(sentence, Not(HasSubstr("throughout")));
        EXPECT_THAT(sentence, Not(HasSubstr("times")));
    }
}

TEST(SweepSentences, ALeaderIsNamedForAsLongAsItLeadsOrTies) {
    const Sweep sweep =
        sweep_of({names("scheme", {"1d", "rdm"}), numbers("ranks", {2, 4, 8, 16})}, [](const Texts& at) {
            const std::map<std::string, std::pair<double, double>> times{
                {"2", {10, 20}}, {"4", {8, 9}}, {"8", {7, 6}}, {"16", {9, 4}}};
            return at[0] == "1d" ? times.at(at[1]).first : times.at(at[1]).second;
        });
    EXPECT_THAT(contest_sentences(sweep),
                ElementsAre("16 ranks: rdm is fastest, 1d 2.2x behind; rdm leads or ties from 4 ranks on",
                            "2 ranks: 1d is fastest, rdm 2x behind"));
}

TEST(SweepSentences, TheFastestNumberOfRanksAndWhatFewerGive) {
    const auto sweep = [](double four) {
        return sweep_of({numbers("ranks", {2, 8, 4})}, [four](const Texts& at) {
            return at[0] == "2" ? 16.0 : at[0] == "4" ? four : 6.1;
        });
    };
    EXPECT_THAT(scaling_sentences(sweep(10)), ElementsAre("8 ranks are the fastest; 4 give 61 % of their speed"));
    EXPECT_THAT(scaling_sentences(sweep(7)),
                ElementsAre("8 ranks are the fastest; 4 give 87 % of their speed (a tie within 25 %)"));
    const Sweep slower = sweep_of({numbers("ranks", {2, 4})}, [](const Texts& at) { return at[0] == "2" ? 1.0 : 3.0; });
    const Sweep one = sweep_of({numbers("ranks", {1, 2})}, [](const Texts& at) { return at[0] == "1" ? 2.0 : 1.0; });
    EXPECT_THAT(scaling_sentences(one), ElementsAre("2 ranks are the fastest; 1 gives 50 % of their speed"));
    EXPECT_THAT(scaling_sentences(slower), ElementsAre("2 ranks are the fastest, more take longer"));
}

TEST(SweepSentences, WhatDoesNotFitIsSaid) {
    const Sweep one = sweep_of({names("scheme", {"1d", "rdm", "2d"}), numbers("hidden", {16, 64})},
                               [](const Texts& at) -> std::optional<double> {
                                   if (at[0] == "1d") return 5;
                                   return at[0] == "2d" && at[1] == "16" ? std::optional(8.0) : std::nullopt;
                               });
    EXPECT_THAT(contest_sentences(one), ElementsAre("hidden=64: 1d alone fits; 1d leads or ties from hidden=16 on"));
    EXPECT_THAT(
        nothing_fits_sentences(one),
        ElementsAre("rdm, hidden=16; rdm, hidden=64; 2d, hidden=64: nothing fits; needs 2 GiB of 1 GiB per rank"));
}

TEST(SweepSentences, NamesTheFewestRanksWhereNothingFits) {
    const auto fits = [](const Texts& at) { return at[0] == "rdm" ? std::optional(1.0) : std::nullopt; };
    Sweep sweep = sweep_of({names("scheme", {"1d", "rdm"}), numbers("ranks", {8, 2, 4})}, fits);
    EXPECT_THAT(nothing_fits_sentences(sweep),
                ElementsAre("1d: nothing fits on 2, 4, 8 ranks; needs 2 GiB of 1 GiB per rank"));
    for (SweepPoint& point : sweep.points) point.smallest_ranks = 16;
    EXPECT_THAT(nothing_fits_sentences(sweep), ElementsAre("1d: nothing fits on 2, 4, 8 ranks; 16 ranks would do"));
    EXPECT_THAT(nothing_fits_sentences(sweep_of({numbers("ranks", {2, 4})}, [](const Texts&) { return 1.0; })),
                IsEmpty());
}

TEST(SweepSentences, TenAtMost) {
    EXPECT_EQ(most_telling(Texts(10, "a")).size(), 10U);
    const Texts few = most_telling(Texts(84, "a"));
    ASSERT_EQ(few.size(), 10U);
    EXPECT_EQ(few.back(), "75 sentences more are in the output of --json");
}

TEST(SweepSpaces, AreLeftOutWhereTheyEqualAMember) {
    const auto time = [](const Texts& at) { return at[0] == "2d" ? 3.0 : at[1] == "2" ? 1.0 : 2.0; };
    const auto sweep = sweep_of({names("scheme", {"1d", "2d", "full"}), numbers("ranks", {2, 4})}, time);
    const WithoutSpaces without = without_redundant_spaces(sweep);
    EXPECT_THAT(without.notes, ElementsAre("full has no column of its own: its best is always 1d."));
    EXPECT_EQ(without.sweep.variations[0].settings.size(), 2U);
    ASSERT_EQ(without.sweep.points.size(), 4U);
    for (const SweepPoint& point : without.sweep.points) EXPECT_LT(point.at[0], 2U);
    // Where it beats all of them somewhere, it says something.
    const auto better = sweep_of({names("scheme", {"1d", "2d", "full"}), numbers("ranks", {2, 4})},
                                 [&](const Texts& at) { return at[0] == "full" && at[1] == "4" ? 1.0 : time(at); });
    EXPECT_THAT(without_redundant_spaces(better).notes, IsEmpty());
    EXPECT_EQ(without_redundant_spaces(better).sweep.points.size(), 6U);
}

}  // namespace
}  // namespace gnnplan::tools
