// The worth of choices names the chosen one and the other.
#include "tools/advise/worth.hpp"
#include "tools/advise/feature_dropout.hpp"

#include <gnnplan/base/words.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnplan::tools {
namespace {

using ::testing::HasSubstr;

Configuration chosen() {
    Configuration configuration;
    configuration.grid = {4, 1, 1};
    configuration.forward = configuration.backward = {Order::sparse_first, Order::dense_first};
    configuration.operands = {Operand::product, Operand::gradient};
    configuration.exchange = Exchange::panels;
    return configuration;
}

Prediction seconds(double epoch) {
    Prediction predicted;
    predicted.epoch_seconds = epoch;
    return predicted;
}

// The lines of the one alternative.
std::string worth(Configuration now, const Choice& choice, Configuration other) {
    Plan plan;
    plan.problem.ranks = 4;
    plan.candidates.push_back({std::move(now), {}, seconds(1)});
    plan.alternatives.push_back({choice, false, std::move(other), seconds(2)});
    const std::vector<std::string> lines = split(worth_text(plan, false), "\n");
    std::string text;
    for (std::size_t i = 2; i < lines.size(); ++i) text += lines[i] + "\n";
    return text;
}

template <class Change>
std::string worth(const Choice& choice, const Change& change) {
    Configuration other = chosen();
    change(other);
    return worth(chosen(), choice, other);
}

TEST(Worth, ASwitchIsNamedByItsRow) {
    EXPECT_THAT(worth({"exchange", "rows"}, [](Configuration& c) { c.exchange = Exchange::rows; }),
                HasSubstr("panels  rows"));
    EXPECT_THAT(worth({"overlap", "on"}, [](Configuration& c) { c.overlap = true; }),
                HasSubstr("not overlap  overlap"));
    EXPECT_THAT(worth({"scores", "dealt_rows"}, [](Configuration& c) { c.scores = Scores::dealt_rows; }),
                HasSubstr("scores by columns  by dealt rows"));
    EXPECT_THAT(worth({"attention", "stored"}, [](Configuration& c) { c.attention = AttentionScores::stored; }),
                HasSubstr("scores of attention recomputed  stored"));
    Configuration partitioned = chosen();
    partitioned.parts = 4;
    EXPECT_THAT(worth(partitioned, {"parts", "off"}, chosen()), HasSubstr("parts   not parts"));
}

TEST(Worth, DropoutOnTheFeaturesIsAChoiceOfTheRun) {
    EXPECT_THAT(worth({"feature_dropout", "on"}, [](Configuration&) {}),
                HasSubstr("no dropout on the features  with it"));
    EXPECT_THAT(worth({"feature_dropout", "off"}, [](Configuration&) {}),
                HasSubstr("dropout on the features  without it"));
    Infeasible infeasible;
    infeasible.needed_bytes = std::int64_t{3} << 30;
    infeasible.available_bytes = std::int64_t{2} << 30;
    EXPECT_EQ(dropout_text(infeasible, RunRecord()),
              "with dropout on the features (`dropout 0.5`) nothing fits: it needs 3 GiB of 2 GiB per rank");
    EXPECT_EQ(times_text(3.66), "3.7x");
    EXPECT_EQ(times_text(1.116), "+12 %");
    EXPECT_EQ(times_text(0.25), "4.0x as fast");
}

TEST(Worth, OrdersAreNamedByTheirLayers) {
    const auto same = [](Configuration&) {};
    EXPECT_THAT(worth({"forward", "D", LayerRange{1, 1}}, same),
                HasSubstr("aggregate first in layer 1  transform first"));
    EXPECT_THAT(worth({"backward", "S", LayerRange{2, 9}}, same),
                HasSubstr("the orders of layers 2..9 backward  aggregate first"));
    Configuration once = chosen();
    once.constant_input = once.cached_aggregation = true;
    EXPECT_THAT(worth(once, {"forward", "D", LayerRange{1, 1}}, chosen()),
                HasSubstr("aggregate first in layer 1 (ÂX once)  transform first"));
    EXPECT_THAT(worth(once, {"cached_aggregation", "off"}, chosen()), HasSubstr("ÂX once  made in every epoch"));
}

TEST(Worth, OtherPlacesAndFrameworksAreNamed) {
    Configuration other = chosen();
    other.grid = {2, 2, 1};
    EXPECT_THAT(worth(chosen(), {"scheme", "rdm"}, other), HasSubstr("scheme 1d  the best rdm"));
    EXPECT_THAT(worth(chosen(), {"baseline", "pyg"}, other), HasSubstr("all of this  the defaults of PyG"));
    EXPECT_THAT(worth(chosen(), {"baseline", "dgl"}, other), HasSubstr("all of this  the defaults of DGL"));
    EXPECT_THAT(worth(chosen(), {"kept", "nothing"}, other), HasSubstr("ÂX kept  nothing kept"));
}

// A switch's row says all that differs.
TEST(Worth, DetailsFollowOtherChoicesThanSwitches) {
    const auto rows = [](Configuration& c) { c.exchange = Exchange::rows; };
    EXPECT_THAT(worth({"exchange", "rows"}, rows), ::testing::Not(HasSubstr("\n    rows")));
    EXPECT_THAT(worth({"baseline", "pyg"}, rows), HasSubstr("\n    rows"));
}

std::string difference(void (*before)(Configuration&), void (*after)(Configuration&)) {
    Configuration one = chosen(), other = chosen();
    before(one);
    after(other);
    return difference_text(one, other);
}

TEST(Worth, DifferencesAreWhatIsNewAndThenWhatIsGone) {
    const auto same = [](Configuration&) {};
    EXPECT_EQ(difference(same, same), "");
    EXPECT_EQ(difference(same, [](Configuration& c) { c.exchange = Exchange::rows; }), "rows");
    EXPECT_EQ(difference(same, [](Configuration& c) { c.exchange = Exchange::none; }), "");
    EXPECT_EQ(difference([](Configuration& c) { c.parts = 4; }, [](Configuration& c) { c.parts = 2; }),
              "2 parts, not 4 parts");
    EXPECT_EQ(
        difference([](Configuration& c) { c.permutation = c.overlap = true; }, [](Configuration& c) { c.bf16 = true; }),
        "bf16 operands, inexact, not overlap, not permuted");
    EXPECT_EQ(difference([](Configuration& c) { c.scores = Scores::whole_rows; },
                         [](Configuration& c) { c.scores = Scores::dealt_rows; }),
              "dealt-row scores, not whole-row scores");
    EXPECT_EQ(difference(same, [](Configuration& c) { c.operands.front() = Operand::gradient; }), "nothing kept");
}

}  // namespace
}  // namespace gnnplan::tools
