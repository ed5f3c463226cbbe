// The worth of every choice of a plan.
#include "planner/enumerate/choices.hpp"
#include "planner/search/pick.hpp"
#include "tests/planner/search/problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace gnnplan {
namespace {

using test::machine;
using test::problem;
using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

const UniformStats products(244'903, 12'390'318, true, 0.08);  // a tenth of OGB-Products
const std::vector<std::int64_t> widths = {100, 128, 47};

Plan planned(int ranks, const SelectOptions& options = {}, const Machine& on = machine(),
             const std::vector<std::int64_t>& shape = widths) {
    SelectResult result = select(problem(shape, ranks, products), on, options);
    if (!result) throw Error(result.code, result.message);
    return result.selection->plan;
}

const Alternative& find(const Plan& plan, const std::string& choice) {
    const auto found =
        std::ranges::find(plan.alternatives, choice, [](const Alternative& a) { return text(a.choice); });
    if (found == plan.alternatives.end()) throw Error(ErrorCode::internal, "no alternative " + choice);
    return *found;
}

std::vector<std::string> choices(const Plan& plan) {
    std::vector<std::string> names;
    for (const Alternative& alternative : plan.alternatives) names.push_back(text(alternative.choice));
    return names;
}

bool same(const Configuration& a, const Configuration& b) {
    const auto switches = [](const Configuration& c) { return std::tuple(scheme_of(c), c.grid.text(), c.switches()); };
    return switches(a) == switches(b) && enumerate::choices_of(a) == enumerate::choices_of(b);
}

TEST(Alternatives, NoneIsTheChosenOneAndNoneIsFaster) {
    for (const Machine& on : test::machines()) {
        for (const int ranks : {1, 2, 6, 8}) {
            const Plan plan = planned(ranks, {}, on);
            const Candidate& chosen = plan.candidates.front();
            EXPECT_FALSE(plan.alternatives.empty());
            for (const Alternative& alternative : plan.alternatives) {
                if (alternative.choice.key == "baseline") continue;  // may be what was chosen
                EXPECT_FALSE(same(alternative.configuration, chosen.configuration)) << text(alternative.choice);
                EXPECT_GE(alternative.predicted.epoch_seconds, chosen.predicted.epoch_seconds * (1 - 1e-9))
                    << text(alternative.choice) << " on " << ranks;
            }
            EXPECT_NO_THROW(validate(plan));
        }
    }
}

// The search with that scheme pinned finds the same.
TEST(Alternatives, SchemesAreTheBestOfThem) {
    const Plan plan = planned(8);
    for (const std::string& scheme : scheme_names()) {
        if (scheme == scheme_of(plan.candidates.front().configuration) || scheme == "cut") continue;
        SelectOptions pinned;
        pinned.scheme = scheme;
        const Candidate best = planned(8, pinned).candidates.front();
        EXPECT_EQ(find(plan, "scheme " + scheme).predicted.epoch_seconds, best.predicted.epoch_seconds) << scheme;
        EXPECT_EQ(scheme_of(find(plan, "scheme " + scheme).configuration), scheme);
    }
}

// Against every choice that the layer has, the other layers being as chosen.
TEST(Alternatives, OtherOrdersAreTheBestOfTheirLayer) {
    for (const Machine& on : test::machines()) {
        const Plan plan = planned(6, {}, on);
        const Configuration& chosen = plan.candidates.front().configuration;
        const Problem asked = problem(widths, 6, products);
        const search::Space space = search::make_space(asked, on, {});
        search::NumberedGraphs graphs(products);
        const Order other = chosen.forward.front() == Order::sparse_first ? Order::dense_first : Order::sparse_first;
        double fastest = std::numeric_limits<double>::max();
        for (const search::Choices& all : search::all_choices(space, chosen.on(), false)) {
            if (all.front().forward != other || all.back() != enumerate::choices_of(chosen).back()) continue;
            Configuration configuration = chosen;
            enumerate::apply(all, configuration);
            const Candidate costed = search::cost_configuration(space, configuration, on, graphs);
            fastest = std::min(fastest, costed.predicted.epoch_seconds);
        }
        const std::string letter = text(Orders{other});
        EXPECT_NEAR(find(plan, "forward 1 " + letter).predicted.epoch_seconds, fastest, 1e-9 * fastest);
        EXPECT_EQ(find(plan, "forward 1 " + letter).configuration.forward.front(), other);
    }
}

TEST(Alternatives, LessIsKept) {
    SelectOptions pinned;
    pinned.forward = parse_orders("SS");
    const Plan plan = planned(8, pinned);
    ASSERT_TRUE(plan.candidates.front().configuration.cached_aggregation);
    const Alternative& again = find(plan, "input aggregated every epoch");
    EXPECT_FALSE(again.configuration.cached_aggregation);
    EXPECT_EQ(text(again.configuration.forward), "SS") << "a pin of another choice stays";
    const Alternative& nothing = find(plan, "nothing kept");
    EXPECT_TRUE(kept_products(nothing.configuration).empty());
    EXPECT_EQ(nothing.configuration.forward, plan.candidates.front().configuration.forward);
}

TEST(Alternatives, APinGivesWayOnlyWhereItPinsWhatChanges) {
    SelectOptions pinned;
    pinned.grid = Grid{8, 1, 1};
    pinned.forward = parse_orders("SS");
    pinned.overlap = false;
    const Plan plan = planned(8, pinned);
    EXPECT_TRUE(find(plan, "forward 1 D").pinned);
    EXPECT_TRUE(find(plan, "overlap on").pinned);
    for (const Alternative& alternative : plan.alternatives) {
        if (alternative.choice.key == "baseline") continue;
        if (alternative.choice.key != "overlap") {
            EXPECT_FALSE(alternative.configuration.overlap) << text(alternative.choice);
        }
        if (alternative.choice.key != "forward") {
            EXPECT_EQ(text(alternative.configuration.forward), "SS") << text(alternative.choice);
        }
    }
}

// Input that may vary is not compared with input that may not.
TEST(Alternatives, VaryingInputsStaySo) {
    SelectOptions one;
    one.candidates = 1;
    const Plan plan = planned(8, one);
    ASSERT_FALSE(plan.candidates.front().configuration.constant_input);
    for (const Alternative& alternative : plan.alternatives) {
        EXPECT_FALSE(alternative.configuration.constant_input) << text(alternative.choice);
    }
}

// docs/pytorch.md: what automatic differentiation makes of A (X W) in every layer, and of DGL's orders.
TEST(Alternatives, BaselinesAreWhatFrameworksDo) {
    const Plan plan = planned(8);
    const Configuration& pyg = find(plan, "baseline").configuration;
    EXPECT_EQ(scheme_of(pyg) + " " + pyg.grid.text(), "1d 8x1");
    EXPECT_EQ(text(pyg.forward) + " " + text(pyg.backward) + " " + text(pyg.operands), "DD S- GG");
    EXPECT_TRUE(kept_products(pyg).empty());
    EXPECT_FALSE(pyg.overlap || pyg.loss_rows || pyg.permutation);
    EXPECT_EQ(pyg.exchange, Exchange::panels);
    const Configuration& dgl = find(plan, "baseline DGL").configuration;
    EXPECT_EQ(text(dgl.forward) + " " + text(dgl.backward) + " " + text(dgl.operands), "SD S- TG");
    EXPECT_THAT(choices(planned(8, {}, machine(), {100, 64, 47})), Not(Contains("baseline DGL")));
}

TEST(Alternatives, OfTheRowsThatTheLossNeeds) {
    SelectOptions pruned;
    pruned.loss_rows = true;
    const Plan plan = planned(4, pruned);
    ASSERT_TRUE(plan.candidates.front().configuration.loss_rows);
    EXPECT_FALSE(find(plan, "loss rows off").configuration.loss_rows);
    EXPECT_TRUE(find(plan, "loss rows off").pinned);
}

TEST(Alternatives, OfOneRank) {
    const Plan plan = planned(1);
    EXPECT_THAT(choices(plan), Contains("baseline"));
    for (const std::string& choice : choices(plan)) {
        EXPECT_FALSE(choice.starts_with("scheme") || choice.starts_with("overlap") || choice.starts_with("exchange"))
            << choice;
    }
}

TEST(Alternatives, OfThePaperSpace) {
    SelectOptions paper;
    paper.space = SearchSpace::paper;
    for (const int ranks : {1, 8}) {
        const Plan plan = planned(ranks, paper);
        const Configuration& chosen = plan.candidates.front().configuration;
        EXPECT_NO_THROW(validate(plan));
        for (const Alternative& alternative : plan.alternatives) {
            const Configuration& c = alternative.configuration;
            EXPECT_NE(c.backward.back(), Order::none) << text(alternative.choice);
            EXPECT_EQ(c.id, paper_id(c.forward, c.backward)) << text(alternative.choice);
        }
        const std::string other = chosen.forward.front() == Order::sparse_first ? "D" : "S";
        EXPECT_THAT(choices(plan), IsSupersetOf({"forward 1 " + other, std::string("baseline")}));
        EXPECT_EQ(text(find(plan, "baseline").configuration.backward), "SS");
    }
}

TEST(Alternatives, OfDeepNetworksChangeLayersTogether) {
    std::vector<std::int64_t> deep(11, 64);
    deep.front() = 100, deep.back() = 47;
    const Plan plan = planned(8, {}, machine(), deep);
    EXPECT_NO_THROW(validate(plan));
    EXPECT_LE(plan.alternatives.size(), 24U);
    const std::string middle = text(plan.candidates.front().configuration.forward).substr(1, 8);
    for (const std::string letter : {"S", "D"}) {
        if (middle.find_first_not_of(letter) == std::string::npos) continue;
        const Configuration& changed = find(plan, "forward 2..9 " + letter).configuration;
        EXPECT_EQ(text(changed.forward).substr(1, 8), std::string(8, letter.front()));
    }
}

TEST(Alternatives, MayBeLeftOut) {
    SelectOptions options;
    options.alternatives = false;
    EXPECT_TRUE(planned(8, options).alternatives.empty());
}

}  // namespace
}  // namespace gnnplan
