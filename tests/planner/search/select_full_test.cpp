// select() over the full space.
#include "planner/enumerate/grids.hpp"
#include "planner/io/plan.hpp"
#include "planner/search/pick.hpp"
#include "tests/planner/search/problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

namespace gnnplan {
namespace {

using test::machine;
using test::problem;

const UniformStats products(244'903, 12'390'318, true, 0.08);  // a tenth of OGB-Products
const std::vector<std::int64_t> widths = {100, 128, 47};

Selection selected(int ranks, const SelectOptions& options = {}) {
    SelectResult result = select(problem(widths, ranks, products), machine(), options);
    if (!result) throw Error(result.code, result.message);
    return *result.selection;
}

TEST(SelectFull, RanksByTimeAndPlansTheFastest) {
    for (const int ranks : {1, 2, 6, 8}) {
        const Selection s = selected(ranks);
        for (std::size_t i = 1; i < s.ranked.size(); ++i) {
            EXPECT_LE(s.ranked[i - 1].predicted.ranked_seconds(), s.ranked[i].predicted.ranked_seconds());
        }
        EXPECT_EQ(s.plan.candidates.front().predicted.epoch_seconds, s.ranked.front().predicted.epoch_seconds);
        EXPECT_LE(s.plan.candidates.size(), static_cast<std::size_t>(max_candidates));
        EXPECT_EQ(s.plan.problem.space, "full");
        EXPECT_NO_THROW(validate(s.plan));
        EXPECT_NO_THROW(check_predicted_bytes(s.plan));
    }
}

// Transforming first multiplies 2 x 16 columns an epoch, and keeping the product with the features 602 once.
TEST(SelectFull, KeepsAProductWhereThereAreEpochsEnough) {
    const auto chosen = [](std::int64_t epochs) {
        Problem asked = problem({602, 16, 41}, 4, products);
        asked.record.run.epochs = epochs;
        return *select(asked, machine(), {}).selection;
    };
    const Selection few = chosen(2), many = chosen(200);
    EXPECT_FALSE(few.ranked.front().configuration.cached_aggregation);
    EXPECT_EQ(few.ranked.front().predicted.kept_seconds, 0);
    const RankedConfiguration& best = many.ranked.front();
    EXPECT_TRUE(best.configuration.cached_aggregation);
    const double once = 200 * best.predicted.kept_seconds;
    EXPECT_GT(once, 0);
    EXPECT_GT(best.predicted.epoch_seconds + once / 2, few.ranked.front().predicted.epoch_seconds);
    EXPECT_LT(best.predicted.ranked_seconds(), few.ranked.front().predicted.ranked_seconds());
    EXPECT_NEAR(best.predicted.ranked_seconds(), best.predicted.epoch_seconds + once / 200, 1e-12);
}

TEST(SelectFull, ShowsTheFastestOfEveryGrid) {
    const Selection s = selected(8);
    std::set<std::pair<std::string, std::string>> shown, expected;
    for (const RankedConfiguration& r : s.ranked)
        shown.insert({scheme_of(r.configuration), r.configuration.grid.text()});
    for (const auto& on : enumerate::distributions(8, {})) expected.insert({scheme_of(on), on.grid.text()});
    EXPECT_EQ(shown, expected);
}

// The choice of the axis that lies within nodes changes times alone: as many bytes are sent, and a rank needs as much
// memory.
TEST(SelectFull, RanksOfANodeDifferAlongTheAxisThatIsFaster) {
    Machine nodes = machine();
    nodes.ranks_per_node = 2;
    nodes.inter_node = {1e-5, 1e8};
    const auto chosen = [&](const Grid& grid, std::optional<NodeAxis> axis) {
        SelectOptions options;
        options.scheme = "rdm";
        options.grid = grid;
        options.node_axis = axis;
        const SelectResult result = select(problem(widths, grid.size(), products), nodes, options);
        return result.selection.value();
    };
    std::set<NodeAxis> best;
    for (const Grid& grid : {Grid{2, 2, 1}, Grid{8, 2, 1}, Grid{2, 8, 1}, Grid{2, 2, 2}}) {
        SCOPED_TRACE(grid.text());
        const Selection searched = chosen(grid, std::nullopt);
        const RankedConfiguration& first = searched.ranked.front();
        best.insert(first.configuration.node_axis);
        double least = std::numeric_limits<double>::infinity();
        for (const NodeAxis axis : {NodeAxis::y, NodeAxis::x, NodeAxis::z}) {
            const RankedConfiguration pinned = chosen(grid, axis).ranked.front();
            least = std::min(least, pinned.predicted.epoch_seconds);
            Configuration same = pinned.configuration;
            same.node_axis = first.configuration.node_axis;
            if (!(same == first.configuration)) continue;
            EXPECT_EQ(pinned.predicted.total_bytes, first.predicted.total_bytes);
            EXPECT_EQ(pinned.predicted.peak_bytes_per_rank, first.predicted.peak_bytes_per_rank);
        }
        EXPECT_EQ(first.predicted.epoch_seconds, least);
        const auto& worth = searched.plan.alternatives;
        EXPECT_TRUE(std::ranges::any_of(worth, [](const Alternative& a) { return a.choice.key == "node_axis"; }));
        EXPECT_NO_THROW(validate(searched.plan));
    }
    EXPECT_GT(best.size(), 1U) << "not the same axis everywhere";
    nodes.ranks_per_node = 16;
    const Selection together = chosen({2, 2, 1}, std::nullopt);
    for (const RankedConfiguration& r : together.ranked) EXPECT_EQ(r.configuration.node_axis, NodeAxis::y);
    EXPECT_TRUE(std::ranges::none_of(together.plan.alternatives,
                                     [](const Alternative& a) { return a.choice.key == "node_axis"; }));
}

TEST(SelectFull, SaysWhatItIsAt) {
    std::vector<std::string> said;
    SelectOptions options;
    options.progress = [&](const std::string& what) { said.push_back(what); };
    const Selection s = selected(4, options);
    ASSERT_GT(said.size(), 3U);
    const auto grids = enumerate::distributions(4, {});
    for (std::size_t i = 0; i < grids.size(); ++i) {
        EXPECT_EQ(said[i], "searching: " + scheme_of(grids[i]) + " on " + grids[i].grid.text() + ", " +
                               std::to_string(i + 1) + " of " + std::to_string(grids.size()) + " grids");
    }
    EXPECT_EQ(said[grids.size()].rfind("comparing the fastest: ", 0), 0U);
    EXPECT_EQ(s.ranked.size(), selected(4).ranked.size()) << "listening changes nothing";
    options.space = SearchSpace::paper;
    said.clear();
    selected(4, options);
    ASSERT_FALSE(said.empty());
    EXPECT_EQ(said.front().rfind("searching: ", 0), 0U);
}

TEST(SelectFull, IsNeverSlowerThanThePaperSpace) {
    SelectOptions paper;
    paper.space = SearchSpace::paper;
    for (const int ranks : {1, 2, 4, 6, 8}) {
        EXPECT_LE(selected(ranks).ranked.front().predicted.epoch_seconds,
                  selected(ranks, paper).ranked.front().predicted.epoch_seconds);
    }
}

// Dropout of the input makes it vary, and only training knows whether there is any.
TEST(SelectFull, EveryPlanCanVaryItsInput) {
    for (const int ranks : {1, 2, 4, 6, 8, 9}) {
        const auto varies = [](const Candidate& c) { return !c.configuration.constant_input; };
        const Selection open = selected(ranks);
        EXPECT_TRUE(std::any_of(open.plan.candidates.begin(), open.plan.candidates.end(), varies)) << ranks;
        SelectOptions options;
        options.constant_input = true;
        const Selection constant = selected(ranks, options);
        EXPECT_TRUE(std::none_of(constant.plan.candidates.begin(), constant.plan.candidates.end(), varies)) << ranks;
        EXPECT_LE(open.ranked.front().predicted.epoch_seconds, constant.ranked.front().predicted.epoch_seconds);
    }
}

// A plan for a run that drops features holds nothing that relies on constant ones; for one that drops none, dropping
// takes no time.
TEST(SelectFull, IsMadeForTheDropoutOfTheRun) {
    const auto varies = [](const Candidate& c) { return !c.configuration.constant_input; };
    for (const int ranks : {1, 4}) {
        SelectOptions options;
        options.drops_features = true;
        const Selection dropped = selected(ranks, options);
        EXPECT_TRUE(std::all_of(dropped.plan.candidates.begin(), dropped.plan.candidates.end(), varies)) << ranks;
        for (const RankedConfiguration& r : dropped.ranked) EXPECT_FALSE(r.configuration.constant_input);
        options.drops_features = false;
        const Selection kept = selected(ranks, options);
        EXPECT_TRUE(std::any_of(kept.plan.candidates.begin(), kept.plan.candidates.end(), varies)) << ranks;
        for (const Candidate& candidate : kept.plan.candidates) {
            for (std::size_t i = 0; i < candidate.schedule.steps.size(); ++i) {
                const auto* map = std::get_if<MapStep>(&candidate.schedule.steps[i].operation);
                if (map == nullptr || map->op != MapOp::dropout) continue;
                EXPECT_EQ(candidate.predicted.step_seconds[i], 0);
            }
            EXPECT_NEAR(candidate.predicted.epoch_seconds, predicted_seconds(candidate, Phase::epoch), 1e-12);
        }
    }
    SelectOptions both;
    both.drops_features = both.constant_input = true;
    Problem asked = problem(widths, 4, products);
    EXPECT_EQ(select(asked, machine(), both).code, ErrorCode::usage);
    asked.record.run.input_dropout = 0.25;
    both.drops_features.reset();
    EXPECT_EQ(select(asked, machine(), both).code, ErrorCode::usage);
}

// Dropping weights of attention takes the time that it was measured to take, for each nonzero of each layer and pass.
TEST(SelectFull, CountsTheTimeOfDroppingWeightsOfAttention) {
    const UniformStats graph(1000, 20'000, true);
    Problem gat = problem({16, 16, 5}, 1, graph);
    gat.record.model.name = "gat";
    gat.ops = models::build(gat.record.model);
    Machine measured = machine();
    measured.calibration.emplace();
    measured.calibration->gather = {{16, {{1 << 20, 1e-9}}}};
    measured.calibration->programs = {{Program::attend, 1, false, {1e-8, 0}},
                                      {Program::attend, 1, true, {5e-8, 0}},
                                      {Program::attend_back, 1, false, {1e-8, 0}},
                                      {Program::attend_back, 1, true, {2e-8, 0}}};
    SelectOptions again;
    again.attention = AttentionScores::recompute;
    const auto epoch = [&](double dropout) {
        gat.record.run.attention_dropout = dropout;
        const SelectResult result = select(gat, measured, again);
        if (!result) throw Error(result.code, result.message);
        const Candidate& first = result.selection->plan.candidates.front();
        EXPECT_NEAR(first.predicted.epoch_seconds, predicted_seconds(first, Phase::epoch), 1e-12);
        return first.predicted.epoch_seconds;
    };
    EXPECT_NEAR(epoch(0.5) - epoch(0), 2 * 20'000 * (4e-8 + 1e-8), 1e-9);
    gat.record.model.name = "gcn";
    gat.ops = models::build(gat.record.model);
    gat.record.run.attention_dropout = 0.5;
    EXPECT_EQ(select(gat, measured).code, ErrorCode::usage);
}

// Scores are stored for the backward pass where drawing again takes longer than moving them, and not where nothing is
// dropped.
TEST(SelectFull, StoresScoresOfAttentionWhereDrawsTakeLonger) {
    Problem gat = problem(widths, 2, products);
    gat.record.model.name = "gat";
    gat.ops = models::build(gat.record.model);
    Machine measured = machine();
    measured.calibration.emplace();
    measured.calibration->gather = {{16, {{1 << 20, 1e-9}}}};
    const auto chosen = [&](double drawing, double dropout) {
        measured.calibration->programs = {{Program::attend, 1, false, {1e-8, 0}},
                                          {Program::attend, 1, true, {1e-8 + drawing, 0}},
                                          {Program::attend_back, 1, false, {1e-8, 0}},
                                          {Program::attend_back, 1, true, {1e-8 + drawing, 0}}};
        gat.record.run.attention_dropout = dropout;
        SelectOptions options;
        options.grid = Grid{1, 2, 1};
        const SelectResult result = select(gat, measured, options);
        if (!result) throw Error(result.code, result.message);
        return result.selection->plan.candidates.front().configuration.attention;
    };
    EXPECT_EQ(chosen(1e-6, 0.5), AttentionScores::stored);
    EXPECT_EQ(chosen(1e-12, 0.5), AttentionScores::recompute);
    EXPECT_EQ(chosen(1e-6, 0), AttentionScores::recompute);
}

// Half the bytes per nonzero, and one copy for both passes even where values differ: more copies of A fit.
TEST(SelectFull, FactoredValuesLetMoreFit) {
    Problem rows = problem(widths, 8, products);
    rows.record.graph.normalisation = Normalisation::row_mean;
    const auto lowest_peak = [&](bool factored) {
        SelectOptions options;
        options.factored_values = factored;
        options.scheme = "rdm";
        options.replication = 8;
        options.grid = Grid{1, 8, 1};
        const SelectResult result = select(rows, machine(), options);
        EXPECT_TRUE(result);
        std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
        for (const RankedConfiguration& r : result.selection->ranked) {
            EXPECT_EQ(r.configuration.factored_values, factored);
            lowest = std::min(lowest, r.predicted.peak_bytes_per_rank);
        }
        return lowest;
    };
    const std::int64_t scales = 2 * 2 * 4 * products.vertices();
    const std::int64_t row_starts = 8 * (products.vertices() + 1);
    EXPECT_EQ(lowest_peak(false) - lowest_peak(true), row_starts + 12 * products.nonzeros() - scales);
    // Slower: not first, but offered for less memory, and searched where there is too little for anything else.
    const Selection open = selected(8);
    EXPECT_FALSE(open.ranked.front().configuration.factored_values);
    EXPECT_TRUE(std::any_of(open.ranked.begin(), open.ranked.end(),
                            [](const RankedConfiguration& r) { return r.configuration.factored_values && r.pareto; }));
    SelectOptions tight;
    tight.scheme = "rdm";
    tight.grid = Grid{1, 8, 1};
    tight.memory_per_rank = lowest_peak(true) + 1;
    const SelectResult saved = select(rows, machine(), tight);
    ASSERT_TRUE(saved);
    EXPECT_TRUE(saved.selection->ranked.front().fits);
    EXPECT_TRUE(saved.selection->ranked.front().configuration.factored_values);
}

TEST(SelectFull, PinsAreObeyed) {
    SelectOptions options;
    options.forward = parse_orders("SD");
    options.backward = parse_orders("D-");
    options.exchange = Exchange::rows;
    options.overlap = true;
    options.permutation = true;
    options.loss_rows = false;
    for (const RankedConfiguration& r : selected(6, options).ranked) {
        const Configuration& c = r.configuration;
        EXPECT_EQ(text(c.forward), "SD");
        EXPECT_EQ(text(c.backward), "D-");
        EXPECT_EQ(c.exchange, c.grid.x > 1 ? Exchange::rows : Exchange::none);
        const bool gathers = c.on().can_overlap();
        EXPECT_EQ(c.overlap, gathers);
        EXPECT_TRUE(c.permutation);
        EXPECT_FALSE(c.loss_rows);
    }
    SelectOptions pruned;
    pruned.loss_rows = true;
    for (const RankedConfiguration& r : selected(6, pruned).ranked) EXPECT_TRUE(r.configuration.loss_rows);
    for (const std::string& scheme : scheme_names()) {
        if (scheme == "cut") continue;  // nobody knows how this graph cuts
        SelectOptions pinned;
        pinned.scheme = scheme;
        for (const RankedConfiguration& r : selected(8, pinned).ranked) EXPECT_EQ(scheme_of(r.configuration), scheme);
    }
    SelectOptions grid;
    grid.grid = Grid{2, 2, 2};
    for (const RankedConfiguration& r : selected(8, grid).ranked) EXPECT_EQ(r.configuration.grid, *grid.grid);
    SelectOptions replicated;
    replicated.scheme = "1.5d";
    replicated.replication = 4;
    for (const RankedConfiguration& r : selected(8, replicated).ranked) EXPECT_EQ(replication_of(r.configuration), 4);
}

struct Question {
    const char* what;
    std::function<void(SelectOptions&)> pin;
};

TEST(SelectFull, PinsThatDoNotExistAreUsageErrors) {
    const Question questions[] = {
        {"a scheme nobody knows", [](SelectOptions& o) { o.scheme = "4d"; }},
        {"a replication that does not divide the ranks", [](SelectOptions& o) { o.replication = 3; }},
        {"one that 1.5d cannot have", [](SelectOptions& o) { o.scheme = "1.5d", o.replication = 3; }},
        {"a replication of 1d", [](SelectOptions& o) { o.scheme = "1d", o.replication = 2; }},
        {"a grid of other ranks",
         [](SelectOptions& o) {
             o.grid = Grid{3, 2, 1};
         }},
        {"a grid that is no 1d",
         [](SelectOptions& o) {
             o.scheme = "1d", o.grid = Grid{2, 4, 1};
         }},
        {"a letter short", [](SelectOptions& o) { o.forward = parse_orders("S"); }},
        {"a letter too many", [](SelectOptions& o) { o.backward = parse_orders("SSS"); }},
        {"a forward pass without its product", [](SelectOptions& o) { o.forward = parse_orders("S-"); }},
        {"a gradient that is needed", [](SelectOptions& o) { o.backward = parse_orders("-S"); }},
        {"no candidates", [](SelectOptions& o) { o.candidates = 0; }},
        {"more than a plan holds", [](SelectOptions& o) { o.candidates = max_candidates + 1; }},
        {"less than no memory", [](SelectOptions& o) { o.memory_per_rank = -1; }},
        {"an exchange of nothing where rows must move", [](SelectOptions& o) { o.exchange = Exchange::none; }},
        {"a cut of a graph that is not there", [](SelectOptions& o) { o.scheme = "cut"; }},
        {"a rule of cuts for another scheme", [](SelectOptions& o) { o.cut_rule = CutRule::libra, o.scheme = "1d"; }},
    };
    for (const Question& question : questions) {
        SelectOptions options;
        question.pin(options);
        const SelectResult result = select(problem(widths, 8, products), machine(), options);
        EXPECT_FALSE(result) << question.what;
        EXPECT_EQ(result.code, ErrorCode::usage) << question.what << ": " << result.message;
    }
    for (const int ranks : {0, -1, max_ranks + 1}) {
        EXPECT_EQ(select(problem(widths, ranks, products), machine()).code, ErrorCode::usage) << ranks;
    }
}

// Graphs of which it is known how they cut are planned with cuts, on grids with as many ranks along x as that is known
// for; the more a vertex is split, the more rows move.
TEST(SelectFull, CutsFollowTheReplicationFactor) {
    SelectOptions options;
    options.scheme = "cut";
    std::vector<std::int64_t> bytes;
    for (const double factor : {1.1, 2.0, 3.5}) {
        const UniformStats known = products.with_replication({0, factor});
        const SelectResult result = select(problem(widths, 8, known), machine(), options);
        ASSERT_TRUE(result) << result.message;
        for (const RankedConfiguration& r : result.selection->ranked) {
            EXPECT_EQ(scheme_of(r.configuration), "cut");
            EXPECT_EQ(r.configuration.grid.x, 4) << "a factor is known in four parts";
            EXPECT_EQ(r.configuration.parts, 4);
        }
        bytes.push_back(result.selection->ranked.front().predicted.total_bytes);
    }
    EXPECT_LT(bytes[0], bytes[1]);
    EXPECT_LT(bytes[1], bytes[2]);
    EXPECT_EQ(select(problem(widths, 1, products), machine(), options).code, ErrorCode::usage) << "of one rank";
    for (const auto pin : {0, 1, 2}) {
        SelectOptions pinned = options;
        if (pin == 0) pinned.exchange = Exchange::panels;
        if (pin == 1) pinned.permutation = true;
        if (pin == 2) pinned.loss_rows = true;
        const UniformStats known = products.with_replication({2, 2, 2});
        EXPECT_EQ(select(problem(widths, 8, known), machine(), pinned).code, ErrorCode::usage) << pin;
    }
}

// The fastest of all members that needs no more than `limit`, by looking at each.
double fastest_within(int ranks, std::int64_t limit) {
    const Problem p = problem(widths, ranks, products);
    search::Space space = search::make_space(p, machine(), {});
    space.buys_memory = true;
    search::NumberedGraphs graphs(products);
    const search::Members all = search::rank_members(space, space.grids, machine(), graphs, {false, true});
    for (const search::Member& member : all.members) {
        const Configuration configuration =
            search::configuration_of(all.frames[member.frame], all.choices[member.choices]);
        const Schedule schedule = lower::lower(space.model, configuration, space.shape);
        if (peak_bytes_per_rank(schedule, graphs.numbered(schedule.numbering)) > limit) continue;
        return search::cost_configuration(space, configuration, machine(), graphs).predicted.epoch_seconds;
    }
    return -1;
}

TEST(SelectFull, MemoryIsAHardFilter) {
    for (const auto& [ranks, cuts] : {std::pair{4, 2}, std::pair{6, 1}}) {
        SelectOptions options;
        // Each time just below what the fastest of those left needs.
        for (int cut = 0; cut < cuts; ++cut) {
            const SelectResult result = select(problem(widths, ranks, products), machine(), options);
            if (!result) break;
            const Selection& s = *result.selection;
            const Prediction& best = s.ranked.front().predicted;
            EXPECT_DOUBLE_EQ(best.epoch_seconds, fastest_within(ranks, s.memory_per_rank));
            for (const RankedConfiguration& r : s.ranked) {
                EXPECT_EQ(r.fits, r.predicted.peak_bytes_per_rank <= s.memory_per_rank);
                EXPECT_FALSE(r.pareto && !r.fits);
            }
            for (const Candidate& c : s.plan.candidates) {
                EXPECT_LE(c.predicted.peak_bytes_per_rank, s.memory_per_rank);
            }
            options.memory_per_rank = best.peak_bytes_per_rank;
            EXPECT_EQ(selected(ranks, options).ranked.front().predicted.epoch_seconds, best.epoch_seconds)
                << "exactly enough is enough";
            options.memory_per_rank = best.peak_bytes_per_rank - 1;
        }
    }
}

// Values are stored whatever is sent and however little memory there is, and loading takes more.
TEST(SelectFull, WeightsOfEdgesAreStored) {
    const UniformStats weighted(244'903, 12'390'318, true, 0.08, true);
    Problem asked = problem(widths, 4, weighted);
    asked.record.graph.edge_weights = true;
    SelectOptions options;
    const SelectResult open = select(asked, machine(), options);
    ASSERT_TRUE(open) << open.message;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const RankedConfiguration& r : open.selection->ranked) {
        EXPECT_FALSE(r.configuration.factored_values);
        least = std::min(least, r.predicted.peak_bytes_per_rank);
    }
    EXPECT_TRUE(std::any_of(open.selection->rejected.begin(), open.selection->rejected.end(), [](const Rejection& r) {
        return r.what == "factored values" && r.reason == Rejection::Reason::not_applicable;
    }));
    EXPECT_NO_THROW(validate(open.selection->plan));
    options.memory_per_rank = least;
    const SelectResult tight = select(asked, machine(), options);
    ASSERT_TRUE(tight) << tight.message;
    for (const RankedConfiguration& r : tight.selection->ranked) EXPECT_FALSE(r.configuration.factored_values);
    options.factored_values = true;
    EXPECT_EQ(select(asked, machine(), options).code, ErrorCode::usage);
    asked.record.model.name = "sage";
    asked.record.model.aggregator = "max";
    asked.ops = models::build(asked.record.model);
    const SelectResult refused = select(asked, machine(), {});
    EXPECT_EQ(refused.code, ErrorCode::usage);
    EXPECT_NE(refused.message.find("takes maxima, whatever edges weigh"), std::string::npos);
}

TEST(SelectFull, SaysWhatIsMissingWhenNothingFits) {
    SelectOptions options;
    options.memory_per_rank = 100'000'000;
    const SelectResult none = select(problem(widths, 2, products), machine(), options);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.code, ErrorCode::infeasible);
    EXPECT_GT(none.infeasible->needed_bytes, options.memory_per_rank);
    EXPECT_EQ(none.infeasible->largest.size(), 3U);
    if (none.infeasible->smallest_ranks) {
        EXPECT_TRUE(select(problem(widths, *none.infeasible->smallest_ranks, products), machine(), options));
    } else {
        EXPECT_GT(none.infeasible->load_bytes, options.memory_per_rank);
    }
}

std::int64_t needed(const Problem& p, const Machine& on, SelectOptions options, std::int64_t allowed) {
    options.memory_per_rank = allowed;
    const SelectResult result = select(p, on, options);
    return result.infeasible ? result.infeasible->needed_bytes : 0;
}

// The same figure for every limit below it, also where loading alone is over the limit; and a plan from it on.
TEST(SelectFull, WhatIsNeededDoesNotDependOnWhatIsAllowed) {
    Machine accelerators = machine();
    accelerators.accelerators = true;
    SelectOptions sharded, paper;
    sharded.scheme = "3d";
    paper.space = SearchSpace::paper;
    for (const Machine& on : {machine(), accelerators}) {
        for (const SelectOptions& options : {SelectOptions{}, sharded, paper}) {
            const Problem p = problem(widths, 4, products);
            const std::int64_t least = needed(p, on, options, 1);
            ASSERT_GT(least, 0);
            for (const std::int64_t allowed : {load_bytes(products) / 2, load_bytes(products) + 1, least - 1}) {
                if (allowed >= least) continue;
                EXPECT_EQ(needed(p, on, options, allowed), least) << allowed;
            }
            EXPECT_EQ(needed(p, on, options, least), 0) << "what is needed is enough";
        }
    }
}

// Memory that no peak counts is left free on the machine; whoever names an amount of memory names what is used.
TEST(SelectFull, AReserveIsLeftOfTheMachinesMemory) {
    const Problem p = problem(widths, 4, products);
    Machine on = machine();
    on.accelerators = true;
    const std::int64_t least = needed(p, on, {}, 1);
    on.reserved_bytes = 1000;
    on.memory_per_rank = least + on.reserved_bytes;
    const SelectResult result = select(p, on, {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result.selection->memory_per_rank, least);
    EXPECT_EQ(result.selection->plan.memory_per_rank(), least);
    --on.memory_per_rank;
    EXPECT_FALSE(select(p, on, {}));
    EXPECT_EQ(needed(p, on, {}, least), 0);
}

// A processor loads what it trains on; a device is fed by its host, however small its own memory is.
TEST(SelectFull, LoadingCountsWhereItTakesPlace) {
    Machine on = machine();
    const Problem p = problem(widths, 12, products);
    SelectOptions options;
    options.scheme = "1d";
    options.memory_per_rank = load_bytes(products) - 1;
    const SelectResult processors = select(p, on, options);
    EXPECT_EQ(processors.code, ErrorCode::infeasible);
    EXPECT_EQ(processors.infeasible->load_bytes, load_bytes(products));
    on.accelerators = true;
    const SelectResult devices = select(p, on, options);
    ASSERT_TRUE(devices) << devices.message;
    for (const Candidate& c : devices.selection->plan.candidates) {
        EXPECT_EQ(c.predicted.peak_bytes_per_rank,
                  peak_bytes_per_rank(c.schedule, *products.numbered(c.schedule.numbering), {.accelerator = true}));
        EXPECT_LE(c.predicted.peak_bytes_per_rank, options.memory_per_rank);
    }
    options.memory_per_rank = 1;
    EXPECT_EQ(select(p, on, options).infeasible->load_bytes, 0);
}

TEST(SelectFull, WhatIsMissingIsSaidInBinaryUnitsAndAsItWasWritten) {
    SelectOptions options;
    options.memory_per_rank = 16'000'000;
    const std::string message = select(problem(widths, 1, products), machine(), options).message;
    EXPECT_NE(message.find("the thriftiest on 1 rank needs "), std::string::npos) << message;
    EXPECT_NE(message.find("MiB per rank, 16 MB (15.3 MiB) are allowed"), std::string::npos) << message;
    options.memory_per_rank = 16 << 20;
    EXPECT_NE(select(problem(widths, 1, products), machine(), options).message.find("per rank, 16 MiB are allowed"),
              std::string::npos);
}

std::int64_t count_of(const Selection& s, Rejection::Reason reason) {
    std::int64_t count = 0;
    for (const Rejection& r : s.rejected) count += r.reason == reason ? r.count : 0;
    return count;
}

// Every member is shown, slower than those shown, or over memory.
TEST(SelectFull, RejectedClassesAreNamed) {
    const Problem p = problem(widths, 6, products);
    const search::Space space = search::make_space(p, machine(), {});
    search::NumberedGraphs graphs(products);
    const auto members = [&](const std::vector<bool>& factored) {
        return static_cast<std::int64_t>(
            search::rank_members(space, space.grids, machine(), graphs, factored).members.size());
    };
    const std::int64_t stored = members({false});
    const std::int64_t all = members({false, true});
    SelectOptions options;
    options.remade = 0;
    for (int cut = 0; cut < 3; ++cut) {
        const Selection s = selected(6, options);
        const auto fitting =
            std::count_if(s.ranked.begin(), s.ranked.end(), [](const RankedConfiguration& r) { return r.fits; });
        // As long as everything fits, the three fastest are shown with factored values too, and no others of those.
        EXPECT_EQ(fitting + count_of(s, Rejection::Reason::slower) + count_of(s, Rejection::Reason::over_memory),
                  cut > 0 ? all : stored + 3);
        EXPECT_EQ(count_of(s, Rejection::Reason::over_memory) > 0, cut > 0);
        options.memory_per_rank = s.ranked.front().predicted.peak_bytes_per_rank - 1;
    }
    const auto inapplicable = [&](int ranks, const std::string& why) {
        std::set<std::string> schemes;
        const Selection s = selected(ranks);
        for (const Rejection& r : s.rejected) {
            if (r.why.starts_with("not applicable: " + why)) schemes.insert(r.what);
        }
        return schemes;
    };
    EXPECT_EQ(inapplicable(5, ""), (std::set<std::string>{"3d"})) << "five ranks form no grid with y and z";
    EXPECT_EQ(inapplicable(1, "1 rank forms no such grid"), (std::set<std::string>{"1d", "1.5d", "2d", "3d"}));
    EXPECT_GT(count_of(selected(128), Rejection::Reason::dominated), 0)
        << "sharded grids are not searched where rdm fits";
}

// Ties are all marked; whoever is not marked is beaten.
TEST(SelectFull, FrontsAreThoseOfTheObjectives) {
    SelectOptions options;
    options.pareto = {Objective::volume, Objective::spmm};
    const Selection s = selected(8, options);
    const auto beats = [](const RankedConfiguration& a, const RankedConfiguration& b) {
        const bool no_worse =
            a.predicted.total_bytes <= b.predicted.total_bytes && a.executed.sparse <= b.executed.sparse;
        return no_worse && (a.predicted.total_bytes < b.predicted.total_bytes || a.executed.sparse < b.executed.sparse);
    };
    for (const RankedConfiguration& r : s.ranked) {
        const bool beaten =
            std::any_of(s.ranked.begin(), s.ranked.end(), [&](const RankedConfiguration& o) { return beats(o, r); });
        EXPECT_EQ(r.pareto, !beaten);
    }
}

TEST(SelectFull, IsDeterministic) {
    for (const auto& f : {widths, std::vector<std::int64_t>{60, 32, 48, 32, 48, 16}}) {
        const auto once = select(problem(f, 6, products), machine());
        const auto again = select(problem(f, 6, products), machine());
        ASSERT_TRUE(once && again);
        EXPECT_EQ(io::write_plan(once.selection->plan), io::write_plan(again.selection->plan));
        ASSERT_EQ(once.selection->ranked.size(), again.selection->ranked.size());
        for (std::size_t i = 0; i < once.selection->ranked.size(); ++i) {
            EXPECT_EQ(once.selection->ranked[i].predicted.step_seconds,
                      again.selection->ranked[i].predicted.step_seconds);
        }
    }
}

}  // namespace
}  // namespace gnnplan
