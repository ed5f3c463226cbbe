#include "runtime/train/autotune.hpp"

#include "tests/runtime/train/fixture.hpp"

#include <algorithm>

namespace gnnplan::train {
namespace {

TEST(TuningEpochs, AreOffForShortRunsAndSingleCandidates) {
    EXPECT_EQ(tuning_epochs({}, 19, 4), 0);
    EXPECT_EQ(tuning_epochs({}, 200, 1), 0);
    EXPECT_EQ(tuning_epochs(5, 200, 1), 0);
    EXPECT_EQ(tuning_epochs(0, 200, 4), 0);
    EXPECT_EQ(tuning_epochs(2, 6, 2), 2);
    EXPECT_EQ(tuning_epochs({}, 20, 4), 3);
    EXPECT_EQ(tuning_epochs({}, 200, 8), 10);
    EXPECT_EQ(tuning_epochs({}, 80, 8), 5);
}

TEST(Autotuner, TriesInTurnAndChoosesTheLowestMedian) {
    Autotuner tuner({0, 2, 5}, 4);
    const std::vector<std::vector<double>> seconds = {{1, 5, 5, 9}, {9, 4, 7, 4}, {1, 6, 6, 6}};
    for (std::int64_t epoch = 1; epoch <= 12; ++epoch) {
        const auto i = static_cast<std::size_t>((epoch - 1) / 4);
        EXPECT_TRUE(tuner.tuning(epoch));
        EXPECT_EQ(tuner.candidate(epoch), (std::vector<int>{0, 2, 5}[i]));
        tuner.record(epoch, seconds[i][static_cast<std::size_t>((epoch - 1) % 4)]);
    }
    EXPECT_FALSE(tuner.tuning(13));
    EXPECT_EQ(tuner.candidate(13), 2);  // median of 4 7 4, without the warm-up
    EXPECT_EQ(tuner.tried()[0].median_seconds, 5);
    EXPECT_EQ(tuner.tried()[1].median_seconds, 4);
    EXPECT_EQ(tuner.tried()[1].epochs, 4);
}

TEST(Autotuner, KeepsThePlansOrderAmongEquals) {
    Autotuner tuner({3, 1}, 1);
    tuner.record(1, 2);
    tuner.record(2, 2);
    EXPECT_EQ(tuner.chosen(), 3);
}

TEST(Autotuner, WithoutTuningTheFirstCandidateTrains) {
    const Autotuner tuner({4}, 3);
    EXPECT_FALSE(tuner.tuning(1));
    EXPECT_EQ(tuner.candidate(1), 4);
    EXPECT_TRUE(tuner.tried().empty());
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
        EXPECT_EQ(plain[0].report.epochs[i].test_accuracy, tuned[0].report.epochs[i].test_accuracy);
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
