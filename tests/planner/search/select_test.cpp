// select() over the paper space.
#include "planner/enumerate/orders.hpp"
#include "tests/planner/search/problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace gnnplan {
namespace {

using test::machine;
using test::problem;

SelectOptions paper() {
    SelectOptions options;
    options.space = SearchSpace::paper;
    options.scheme = "rdm";
    return options;
}

const UniformStats reddit(232'965, 114'848'857, true);
const std::vector<std::int64_t> reddit_widths = {602, 128, 41};

TEST(Select, RanksEveryConfigurationOfEveryReplication) {
    const SelectResult result = select(problem(reddit_widths, 8, reddit), machine(), paper());
    ASSERT_TRUE(result) << result.message;
    const Selection& s = *result.selection;
    EXPECT_EQ(s.ranked.size(), 16U * 4);  // R_A in 1, 2, 4, 8
    for (std::size_t i = 1; i < s.ranked.size(); ++i) {
        if (s.ranked[i].fits) {
            EXPECT_LE(s.ranked[i - 1].predicted.epoch_seconds, s.ranked[i].predicted.epoch_seconds);
        }
        EXPECT_GE(s.ranked[i - 1].fits, s.ranked[i].fits);
    }
    EXPECT_EQ(s.plan.candidates.front().predicted.epoch_seconds, s.ranked.front().predicted.epoch_seconds);
    for (const RankedConfiguration& r : s.ranked) {
        if (r.fits) {
            EXPECT_EQ(r.pareto, (std::set<std::int64_t>{2, 3, 10}.contains(*r.configuration.id)));  // Table VI
        }
    }
    EXPECT_NO_THROW(validate(s.plan));
}

TEST(Select, CandidatesAreTheFastestAndTheParetoFronts) {
    const SelectResult result = select(problem(reddit_widths, 4, reddit), machine(), paper());
    ASSERT_TRUE(result);
    const auto& candidates = result.selection->plan.candidates;
    EXPECT_EQ(candidates.size(), 8U);  // 3 ids x 3 replications, cut at 8
    std::set<std::pair<std::int64_t, int>> distinct;
    for (const Candidate& c : candidates) distinct.insert({*c.configuration.id, replication_of(c.configuration)});
    EXPECT_EQ(distinct.size(), candidates.size());
}

TEST(Select, PinsAreObeyed) {
    SelectOptions options = paper();
    options.replication = 2;
    options.forward = parse_orders("SD");
    options.backward = parse_orders("DS");
    const SelectResult result = select(problem(reddit_widths, 4, reddit), machine(), options);
    ASSERT_TRUE(result);
    ASSERT_EQ(result.selection->ranked.size(), 1U);
    EXPECT_EQ(*result.selection->ranked[0].configuration.id, 9);
    EXPECT_EQ(result.selection->ranked[0].configuration.grid, (Grid{2, 2, 1}));
}

TEST(Select, BadQuestionsAreUsageErrors) {
    SelectOptions options = paper();
    options.replication = 3;
    EXPECT_EQ(select(problem(reddit_widths, 4, reddit), machine(), options).code, ErrorCode::usage);
    options = paper();
    options.forward = parse_orders("SDS");
    EXPECT_EQ(select(problem(reddit_widths, 4, reddit), machine(), options).code, ErrorCode::usage);
    EXPECT_EQ(select(problem({8, 8, 8, 8, 8, 8, 8, 8}, 4, reddit), machine(), paper()).code,
              ErrorCode::usage);  // 7 layers
    EXPECT_EQ(select(problem(reddit_widths, 0, reddit), machine(), paper()).code, ErrorCode::usage);
    Machine broken = machine();
    broken.spmm.clear();
    EXPECT_EQ(select(problem(reddit_widths, 4, reddit), broken, paper()).code, ErrorCode::data);
}

TEST(Select, MemoryIsAHardFilter) {
    const Selection all = *select(problem(reddit_widths, 8, reddit), machine(), paper()).selection;
    std::int64_t least = all.ranked[0].predicted.peak_bytes_per_rank, most = least;
    for (const RankedConfiguration& r : all.ranked) {
        least = std::min(least, r.predicted.peak_bytes_per_rank);
        most = std::max(most, r.predicted.peak_bytes_per_rank);
    }
    SelectOptions options = paper();
    options.memory_per_rank = (least + most) / 2;
    const Selection some = *select(problem(reddit_widths, 8, reddit), machine(), options).selection;
    std::size_t fitting = 0;
    for (const RankedConfiguration& r : some.ranked) {
        EXPECT_EQ(r.fits, r.predicted.peak_bytes_per_rank <= options.memory_per_rank);
        fitting += r.fits ? 1 : 0;
    }
    EXPECT_GT(fitting, 0U);
    EXPECT_LT(fitting, some.ranked.size());
    for (const Candidate& c : some.plan.candidates) EXPECT_LE(c.predicted.peak_bytes_per_rank, options.memory_per_rank);

    options.memory_per_rank = least - 1;
    const SelectResult none = select(problem(reddit_widths, 8, reddit), machine(), options);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.code, ErrorCode::infeasible);
    EXPECT_EQ(none.infeasible->needed_bytes, least);
    EXPECT_EQ(none.infeasible->largest.size(), 3U);
}

TEST(Select, SaysHowManyRanksWouldFit) {
    // Dense features dominate: 1e6 x 1000 floats are 4 GB in all, so more ranks help.
    const UniformStats graph(1'000'000, 2'000'000, true);
    SelectOptions options = paper();
    options.memory_per_rank = 500'000'000;
    const SelectResult none = select(problem({1000, 16, 4}, 4, graph), machine(), options);
    ASSERT_FALSE(none);
    ASSERT_TRUE(none.infeasible->smallest_ranks.has_value());
    const int enough = *none.infeasible->smallest_ranks;
    EXPECT_TRUE(select(problem({1000, 16, 4}, enough, graph), machine(), options)) << enough;
    EXPECT_FALSE(select(problem({1000, 16, 4}, enough - 1, graph), machine(), options)) << enough;
}

// Beyond three layers only the front is costed: it must be the front of everything that fits.
TEST(Select, DeepNetworksKeepTheWholeFeasibleFront) {
    const UniformStats graph(5000, 50'000, true);
    const std::vector<std::int64_t> widths = {60, 32, 48, 16, 7};
    SelectOptions options = paper();
    options.replication = 4;
    const Selection open = *select(problem(widths, 4, graph), machine(), options).selection;
    const auto fastest = [](const Selection& s) { return s.ranked.front().predicted; };
    // Cut memory just below the front's thriftiest: the search must look behind the front.
    std::int64_t thriftiest = open.ranked.front().predicted.peak_bytes_per_rank;
    for (const RankedConfiguration& r : open.ranked) thriftiest = std::min(thriftiest, r.predicted.peak_bytes_per_rank);
    options.memory_per_rank = thriftiest - 1;
    const SelectResult cut = select(problem(widths, 4, graph), machine(), options);
    if (cut) {
        EXPECT_LE(fastest(*cut.selection).peak_bytes_per_rank, options.memory_per_rank);
        EXPECT_GE(fastest(*cut.selection).epoch_seconds, fastest(open).epoch_seconds);
    } else {
        EXPECT_EQ(cut.code, ErrorCode::infeasible);
    }
}

TEST(SelectOrders, SaysWhatSelectChooses) {
    for (const int ranks : {1, 8}) {
        const Problem asked = problem(reddit_widths, ranks, reddit);
        const SelectResult result = select(asked, machine());
        ASSERT_TRUE(result) << result.message;
        const RankedConfiguration& best = result.selection->ranked.front();
        const OrderAdvice advice = select_orders(asked, machine());
        EXPECT_EQ(advice.forward, best.configuration.forward);
        EXPECT_EQ(advice.backward, best.configuration.backward);
        EXPECT_EQ(advice.backward.back(), Order::none);
        EXPECT_EQ(advice.kept.front(), "T1 across epochs");
        EXPECT_EQ(advice.scheme, scheme_of(best.configuration));
        EXPECT_EQ(advice.grid, best.configuration.grid);
        EXPECT_EQ(advice.epoch_seconds, best.predicted.epoch_seconds);
        EXPECT_EQ(advice.peak_bytes_per_rank, best.predicted.peak_bytes_per_rank);
        EXPECT_EQ(advice.memory_per_rank, machine().memory_per_rank);
    }
}

TEST(SelectOrders, KeepsToWhatIsPinned) {
    SelectOptions pins;
    pins.scheme = "rdm";
    pins.forward = Orders{Order::dense_first, Order::dense_first};
    const OrderAdvice advice = select_orders(problem(reddit_widths, 8, reddit), machine(), pins);
    EXPECT_EQ(advice.scheme, "rdm");
    EXPECT_EQ(advice.forward, *pins.forward);
}

TEST(SelectOrders, HeedsDropoutOnTheFeatures) {
    Problem dropping = problem(reddit_widths, 8, reddit);
    dropping.record.run.dropout = 0.5;
    const OrderAdvice advice = select_orders(dropping, machine());
    EXPECT_TRUE(std::ranges::count(advice.kept, "T1 across epochs") == 0);
    EXPECT_GT(advice.epoch_seconds, select_orders(problem(reddit_widths, 8, reddit), machine()).epoch_seconds);
}

TEST(SelectOrders, BadQuestionsAreErrorsThatSayWhy) {
    const auto code = [](const Problem& asked, const Machine& on) {
        try {
            select_orders(asked, on);
        } catch (const Error& error) {
            EXPECT_STRNE(error.what(), "");
            return error.code();
        }
        return ErrorCode::internal;
    };
    EXPECT_EQ(code(problem(reddit_widths, 2, reddit), Machine{}), ErrorCode::data);
    Problem empty = problem(reddit_widths, 2, reddit);
    empty.ops = {};
    EXPECT_EQ(code(empty, machine()), ErrorCode::usage);
    Machine small = machine();
    small.memory_per_rank = 1;
    EXPECT_EQ(code(problem(reddit_widths, 2, reddit), small), ErrorCode::infeasible);
}

}  // namespace
}  // namespace gnnplan
