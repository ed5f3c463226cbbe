#include "runtime/train/autotune.hpp"

#include "runtime/deploy/fitting.hpp"
#include "runtime/deploy/footprint.hpp"
#include "runtime/train/trials.hpp"
#include "tests/runtime/train/fixture.hpp"

#include <algorithm>

namespace gnnplan::train {
namespace {

std::vector<Trial> trials(const std::vector<double>& predicted) {
    std::vector<Trial> all;
    all.reserve(predicted.size());
    for (int i = 0; i < std::ssize(predicted); ++i) all.push_back({i, predicted[static_cast<std::size_t>(i)], i});
    return all;
}

// Runs the tuner to its end on candidates that take seconds[candidate] an epoch and `setup` to set up, of which `cut`
// for sparse blocks; returns the candidate of each tuning epoch.
std::vector<int> tune(Autotuner& tuner, const std::vector<double>& seconds, double setup, double cut = 0) {
    std::vector<int> trained;
    while (tuner.tuning()) {
        const int candidate = tuner.candidate();
        if (trained.empty() || trained.back() != candidate) tuner.built(setup, cut);
        trained.push_back(candidate);
        tuner.record(seconds[static_cast<std::size_t>(candidate)]);
    }
    return trained;
}

double tenth(const Trial& asked, const Trial& /*winner*/) { return 0.1 * asked.predicted_seconds; }

TEST(TuningRules, WhatIsAskedIsDoneAndShortRunsAreNotTuned) {
    EXPECT_EQ(tuning_rules({}, 19, {}).epochs_each, 0);
    EXPECT_GT(tuning_rules({}, 20, {}).epochs_each, 0);
    EXPECT_TRUE(tuning_rules({}, 200, tenth).budget);
    EXPECT_TRUE(tuning_rules({}, 200, tenth).error);
    EXPECT_EQ(tuning_rules(5, 6, tenth).epochs_each, 5);
    EXPECT_FALSE(tuning_rules(5, 6, tenth).budget);
    EXPECT_FALSE(tuning_rules(5, 6, tenth).error);
}

TEST(Autotuner, TriesInTurnAndChoosesTheLowestMedian) {
    Autotuner tuner({{0, 1, 0}, {2, 1, 2}, {5, 1, 5}}, {20, 4, {}, {}});
    const std::vector<std::vector<double>> seconds = {{1, 5, 5, 9}, {9, 4, 7, 4}, {1, 6, 6, 6}};
    for (std::size_t epoch = 0; epoch < 12; ++epoch) {
        EXPECT_TRUE(tuner.tuning());
        EXPECT_EQ(tuner.candidate(), (std::vector<int>{0, 2, 5}[epoch / 4]));
        tuner.record(seconds[epoch / 4][epoch % 4]);
    }
    EXPECT_FALSE(tuner.tuning());
    EXPECT_EQ(tuner.candidate(), 2);  // median of 4 7 4, without the warm-up
    EXPECT_EQ(tuner.tried()[0].median_seconds, 5);
    EXPECT_EQ(tuner.tried()[1].median_seconds, 4);
    EXPECT_EQ(tuner.tried()[1].epochs, 4);
}

TEST(Autotuner, KeepsThePlansOrderAmongEquals) {
    Autotuner tuner({{3, 1, 3}, {1, 1, 1}}, {10, 1, {}, {}});
    tuner.record(2);
    tuner.record(2);
    EXPECT_EQ(tuner.chosen(), 3);
}

TEST(Autotuner, WithoutTuningTheFirstCandidateTrains) {
    const Autotuner tuner({{4, 1, 4}}, {100, 3, {}, {}});
    EXPECT_FALSE(tuner.tuning());
    EXPECT_EQ(tuner.candidate(), 4);
    EXPECT_TRUE(tuner.tried().empty());
    EXPECT_FALSE(Autotuner({{4, 1, 4}, {5, 1, 5}}, {3, 3, {}, {}}).tuning()) << "nothing would be left for the winner";
}

// Measured times are twice the predicted ones, so 1.3 predicted is 2.6, and 10 % less of that is still slower than 2.
TEST(Autotuner, TriesOnlyWhatTheModelsErrorLetsWin) {
    Autotuner tuner(trials({1, 1.05, 1.3, 1.08}), {1000, 3, tenth, 10.0});
    EXPECT_EQ(tune(tuner, {2, 1.9, 0.1, 2}, 0), (std::vector<int>{0, 0, 0, 1, 1, 1, 3, 3, 3}));
    EXPECT_EQ(tuner.chosen(), 1);
}

TEST(Autotuner, GivesUpWhatIsClearlySlower) {
    Autotuner tuner(trials({1, 1, 1}), {1000, 5, {}, 10.0});
    EXPECT_EQ(tune(tuner, {2, 3, 1.9}, 0), (std::vector<int>{0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2}));
    EXPECT_EQ(tuner.chosen(), 2);
}

// 200 epochs of 1 s may lose 10 s.
TEST(Autotuner, KeepsToItsBudget) {
    const TuningRules rules{200, 3, {}, 0.05};
    Autotuner cheap(trials({1, 1, 1, 1}), rules);
    EXPECT_EQ(tune(cheap, {1, 1.1, 1.1, 1.1}, 1).size(), 12U);
    Autotuner dear(trials({1, 1, 1, 1}), rules);
    EXPECT_EQ(tune(dear, {1, 1.1, 1.1, 1.1}, 4).size(), 6U) << "a second trial would need 4 + 2 * 4 s";
    Autotuner too_dear(trials({1, 1, 1, 1}), rules);
    EXPECT_EQ(tune(too_dear, {1, 0.5, 0.5, 0.5}, 6).size(), 3U);
    EXPECT_EQ(too_dear.chosen(), 0);
    EXPECT_TRUE(too_dear.too_dear());
    EXPECT_FALSE(cheap.too_dear());
}

// 200 epochs of 1 s may lose 10 s. The first candidate takes 6 s to set up, of which 4 s for blocks that the second one
// takes over, and gives back if it loses.
TEST(Autotuner, BlocksThatAreTakenOverCostNothing) {
    const TuningRules rules{200, 3, {}, 0.05};
    Autotuner shared({{0, 1, 0}, {1, 1, 0}, {2, 1, 2}}, rules);
    EXPECT_EQ(tune(shared, {1, 1.1, 1.1}, 6, 4), (std::vector<int>{0, 0, 0, 1, 1, 1}));
    EXPECT_TRUE(shared.too_dear()) << "the third one would cut its own";
    Autotuner own({{0, 1, 0}, {1, 1, 1}, {2, 1, 0}}, rules);
    EXPECT_EQ(tune(own, {1, 1.1, 1.1}, 6, 4).size(), 3U);
}

// Each rank finds another candidate fastest; the slowest rank of each candidate decides, and all ranks agree.
TEST(Consensus, DisagreeingRanksEndOnTheCandidateWhoseSlowestRankIsFastest) {
    const std::vector<std::vector<double>> tick = {{1, 4, 3, 9}, {8, 2, 4, 1}, {2, 9, 5, 3}};  // [rank][candidate]
    const data::Dataset dataset = testing::open(gnnplan::testing::random_symmetric(17, 3, 5, 3, 2));
    // The same schedule four times, so that only the clocks tell the candidates apart.
    const Plan plan = testing::make_plan(dataset, 4, false, 3, {{3, 10}, {3, 10}, {3, 10}, {3, 10}});
    TrainOptions options;
    options.epochs = 15;
    options.autotune = 3;
    const auto ranks = testing::train_ranks(plan, dataset, options, [&](int rank, int candidate) {
        return tick[static_cast<std::size_t>(rank)][static_cast<std::size_t>(candidate)];
    });
    for (const auto& rank : ranks) {
        EXPECT_EQ(rank.report.chosen, 2);  // slowest ranks: 8, 9, 5, 9
        EXPECT_EQ(rank.candidates, (std::vector<int>{0, 1, 2, 3, 2}));
        ASSERT_EQ(rank.report.tried.size(), 4U);
        const double epoch = rank.report.tried[2].median_seconds;
        EXPECT_DOUBLE_EQ(rank.report.tried[0].median_seconds, epoch * 8 / 5);
        EXPECT_DOUBLE_EQ(rank.report.tried[1].median_seconds, epoch * 9 / 5);
        EXPECT_EQ(rank.releases, 1);
    }
}

// A winner that was tried last trains on as it stands: nothing is built again, and what was predicted for it holds.
TEST(Consensus, TheLastOneTriedIsNotBuiltAgain) {
    const data::Dataset dataset = testing::open(gnnplan::testing::random_symmetric(17, 3, 5, 3, 2));
    const Plan plan = testing::make_plan(dataset, 4, false, 2, {{2, 6}, {2, 6}});
    TrainOptions options;
    options.epochs = 8;
    options.autotune = 2;
    const auto ranks = testing::train_ranks(plan, dataset, options,
                                            [](int /*rank*/, int candidate) { return candidate == 0 ? 2.0 : 1.0; });
    for (const auto& rank : ranks) {
        EXPECT_EQ(rank.candidates, (std::vector<int>{0, 1}));
        EXPECT_EQ(rank.report.chosen, 1);
        EXPECT_EQ(rank.releases, 1);
        EXPECT_EQ(rank.report.measured.peak_bytes_per_rank, rank.report.predicted.peak_bytes_per_rank);
    }
}

// While there is room beside the largest trial, and then the room counts.
TEST(Consensus, FeaturesStayInMemoryWhileCandidatesAreTried) {
    const data::Dataset dataset = testing::open(gnnplan::testing::random_symmetric(17, 3, 5, 3, 2));
    Plan plan = testing::make_plan(dataset, 4, false, 2, {{2, 6}, {2, 6}});
    const Schedule& schedule = plan.candidates[0].schedule;
    const std::int64_t trial =
        deploy::footprint(schedule, *deploy::counts_for(schedule, dataset), {.state_lives = true, .graph_stays = true})
            .tensors;
    const std::int64_t features = 4 * dataset.vertices() * dataset.features();
    TrainOptions options;
    options.epochs = 8;
    options.autotune = 2;
    const auto train = [&](std::int64_t room) {
        plan.machine.memory_per_rank = room;
        const auto ranks = testing::train_ranks(plan, dataset, options,
                                                [](int /*rank*/, int candidate) { return candidate == 0 ? 2.0 : 1.0; });
        const RunReport& report = ranks[0].report;
        EXPECT_EQ(report.tried.size(), options.autotune == 0 ? 0U : 2U);
        EXPECT_EQ(report.measured.peak_bytes_per_rank, report.predicted.peak_bytes_per_rank);
        EXPECT_LE(report.measured.peak_bytes_per_rank, room);
        return ranks[0].caches;
    };
    EXPECT_EQ(train(trial + features), 1);
    EXPECT_EQ(train(trial + features - 1), 0);
    options.autotune = 0;
    EXPECT_EQ(train(trial + features), 0);
}

// The memory that a plan was allowed bounds tuning, too, whatever more the machine has.
TEST(Consensus, ThePlansMemoryIsKeptToWhileCandidatesAreTried) {
    const data::Dataset dataset = testing::open(gnnplan::testing::random_symmetric(17, 3, 5, 3, 2));
    Plan plan = testing::make_plan(dataset, 4, false, 2, {{2, 6}, {2, 6}});
    const Schedule& schedule = plan.candidates[0].schedule;
    const std::int64_t alone = deploy::footprint(schedule, *deploy::counts_for(schedule, dataset), {}).tensors;
    const std::int64_t trial =
        deploy::footprint(schedule, *deploy::counts_for(schedule, dataset), {.state_lives = true, .graph_stays = true})
            .tensors;
    ASSERT_LT(alone, trial);
    const std::int64_t features = 4 * dataset.vertices() * dataset.features();
    TrainOptions options;
    options.epochs = 8;
    options.autotune = 2;
    const auto train = [&](std::int64_t allowed) {
        plan.problem.memory_per_rank = allowed;
        return testing::train_ranks(plan, dataset, options, testing::steady_tick)[0].report;
    };
    for (const std::int64_t allowed : {alone, trial - 1, trial, trial + features - 1, trial + features}) {
        SCOPED_TRACE(allowed);
        const RunReport report = train(allowed);
        EXPECT_LE(report.measured.peak_bytes_per_rank, allowed);
        EXPECT_EQ(report.tried.size(), allowed >= trial ? 2U : 0U);
        ASSERT_EQ(report.tuning_peak.has_value(), allowed >= trial);
        if (!report.tuning_peak) continue;
        EXPECT_EQ(report.tuning_peak->predicted_bytes, allowed == trial + features ? allowed : trial);
        EXPECT_EQ(report.tuning_peak->measured_bytes, report.tuning_peak->predicted_bytes);
        EXPECT_EQ(report.tuning_peak->predicted_bytes,
                  fitting_trials(plan, {0, 1}, deploy::counts_of(dataset), true, {}).peak_bytes);
    }
    try {
        train(alone - 1);
        ADD_FAILURE() << "more than allowed";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::infeasible);
        EXPECT_NE(std::string(error.what()).find(std::to_string(alone) + " bytes"), std::string::npos) << error.what();
    }
}

// A device does not hold the graph while it is loaded: its host does.
TEST(CandidatesThatFit, AreThoseOfADevicesOwnMemory) {
    const data::Dataset dataset = testing::open(gnnplan::testing::random_symmetric(200, 30, 2, 2, 2));
    Plan plan = testing::make_plan(dataset, 2, false, 2, {{2, 6}});
    const Schedule& schedule = plan.candidates[0].schedule;
    const std::int64_t device =
        peak_bytes_per_rank(schedule, *deploy::counts_for(schedule, dataset), {.accelerator = true});
    ASSERT_LT(device, deploy::footprint(schedule, *deploy::counts_for(schedule, dataset), {}).tensors);
    plan.problem.memory_per_rank = device;
    const exec::GraphCounts graph = deploy::counts_of(dataset);
    EXPECT_THROW(deploy::candidates_that_fit(plan, {0}, graph, {}, {}), Error);
    EXPECT_EQ(deploy::candidates_that_fit(plan, {0}, graph, {.accelerator = true}, {}), std::vector<int>{0});
}

// Orders alone do not change which blocks a rank holds.
TEST(SameBlocks, AreThoseOfTheSameGridNumberingAndMatrices) {
    const data::Dataset dataset = testing::open(gnnplan::testing::random_symmetric(17, 3, 5, 3, 2));
    const Plan plan = testing::make_plan(dataset, 4, false, 2, {{2, 6}, {2, 9}, {1, 6}});
    const Schedule& one = plan.candidates[0].schedule;
    EXPECT_TRUE(exec::same_blocks(one, plan.candidates[1].schedule));
    EXPECT_FALSE(exec::same_blocks(one, plan.candidates[2].schedule));
    const auto changed = [&](const auto& change) {
        Schedule other = one;
        const auto matrix = std::find_if(other.tensors.begin(), other.tensors.end(),
                                         [](const Tensor& t) { return t.role == Role::adjacency; });
        change(other, *matrix);
        return !exec::same_blocks(one, other);
    };
    EXPECT_TRUE(changed([](Schedule& other, Tensor&) { other.numbering.permuted = true; }));
    EXPECT_TRUE(changed([](Schedule&, Tensor& matrix) { matrix.storage.panel_columns = 8; }));
    EXPECT_TRUE(changed([](Schedule&, Tensor& matrix) { matrix.storage.factored = !matrix.storage.factored; }));
    EXPECT_TRUE(changed([](Schedule& other, Tensor&) {
        other.steps.push_back({"index", Phase::setup, RowRequestStep{0}});
    }));
    EXPECT_FALSE(changed([](Schedule&, Tensor& matrix) { matrix.name += "'"; }));
}

TEST(Consensus, TuningEpochsTrainAndChangeNothing) {
    const data::Dataset dataset = testing::open(gnnplan::testing::random_symmetric(17, 3, 5, 3, 2));
    const Plan one = testing::make_plan(dataset, 4, true, 2, {{2, 6}});
    // Built anew for each of the candidates, the same schedule must leave the same bits.
    const Plan many = testing::make_plan(dataset, 4, true, 2, {{2, 6}, {2, 6}, {2, 6}});
    TrainOptions options;
    options.epochs = 10;
    options.dropout = 0.3;
    options.autotune = 0;
    const auto plain = testing::train_ranks(one, dataset, options, testing::steady_tick);
    options.autotune = 2;
    const auto tuned = testing::train_ranks(many, dataset, options, testing::steady_tick);
    EXPECT_EQ(tuned[0].report.tried.size(), 3U);
    EXPECT_EQ(plain[0].parameters, tuned[0].parameters);
    for (std::size_t i = 0; i < plain[0].report.epochs.size(); ++i) {
        EXPECT_EQ(plain[0].report.epochs[i].loss, tuned[0].report.epochs[i].loss);
        EXPECT_EQ(plain[0].report.epochs[i].judgement.accuracy.test, tuned[0].report.epochs[i].judgement.accuracy.test);
    }
}

// Candidates on different grids train the same network up to rounding.
TEST(Consensus, TheLossFallsSmoothlyAcrossDifferentCandidates) {
    const data::Dataset dataset = testing::open(gnnplan::testing::random_directed(23, 3, 5, 3, 2));
    const Plan one = testing::make_plan(dataset, 4, false, 4, {{4, 0}});
    const Plan many = testing::make_plan(dataset, 4, false, 4, {{4, 0}, {1, 15}, {2, 6}, {2, 9}});
    TrainOptions options;
    options.epochs = 12;
    options.autotune = 0;
    const auto plain = testing::train_ranks(one, dataset, options, testing::steady_tick);
    options.autotune = 2;
    const auto tuned = testing::train_ranks(many, dataset, options, testing::steady_tick);
    EXPECT_EQ(tuned[0].report.tried.size(), 4U);
    for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_NEAR(plain[0].report.epochs[i].loss, tuned[0].report.epochs[i].loss, 1e-4);
    }
}

TEST(Consensus, LeavesAnEpochForTheWinnerAndSkipsWhatDoesNotFitBesideTheGraph) {
    const data::Dataset dataset = testing::open(gnnplan::testing::random_symmetric(17, 3, 5, 3, 2));
    Plan plan = testing::make_plan(dataset, 4, false, 1, {{1, 0}, {1, 5}, {1, 10}});
    TrainOptions options;
    options.epochs = 6;
    options.autotune = 2;
    EXPECT_EQ(testing::train_ranks(plan, dataset, options, testing::steady_tick)[0].report.tried.size(), 2U);
    plan.machine.memory_per_rank = 100;
    EXPECT_TRUE(testing::train_ranks(plan, dataset, options, testing::steady_tick)[0].report.tried.empty());
}

}  // namespace
}  // namespace gnnplan::train
