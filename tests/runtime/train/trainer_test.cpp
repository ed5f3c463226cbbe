#include "runtime/deploy/report.hpp"
#include "tests/runtime/train/fixture.hpp"
#include "tests/support/compare.hpp"

#include <cmath>

namespace gnnplan::train {
namespace {

using gnnplan::testing::bytes_as_predicted;

TrainOptions short_run() {
    TrainOptions options;
    options.epochs = 4;
    options.dropout = 0.25;
    return options;
}

class Training : public ::testing::TestWithParam<int> {};

TEST_P(Training, BytesAndPeakAreThePredictedOnes) {
    const int ranks = GetParam();
    for (const auto& graph : {gnnplan::testing::random_symmetric(19, 3, 6, 3, 2),
                              gnnplan::testing::random_directed(29, 4, 3, 2, 5), gnnplan::testing::star(5, 2, 2, 1)}) {
        SCOPED_TRACE(graph.name);
        const data::Dataset dataset = testing::open(graph);
        for (int replication = 1; replication <= ranks; ++replication) {
            if (ranks % replication != 0) continue;
            for (const int id : {0, 6, 9, 15}) {
                SCOPED_TRACE("id " + std::to_string(id) + ", R_A " + std::to_string(replication));
                const Plan plan = testing::make_plan(dataset, 5, id % 2 == 0, ranks, {{replication, id}});
                const auto trained = testing::train_ranks(plan, dataset, short_run(), testing::steady_tick);
                const RunReport& report = trained.front().report;
                EXPECT_TRUE(bytes_as_predicted(report.steps));
                EXPECT_TRUE(bytes_as_predicted(report.evaluation));
                EXPECT_EQ(deploy::byte_mismatch(report), std::nullopt);
                EXPECT_EQ(report.measured.total_bytes, plan.candidates[0].predicted.total_bytes);
                EXPECT_EQ(report.measured.max_rank_bytes, plan.candidates[0].predicted.max_rank_bytes);
                EXPECT_EQ(report.measured.peak_bytes_per_rank, plan.candidates[0].predicted.peak_bytes_per_rank);
                EXPECT_EQ(report.epochs.size(), 4U);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Training, ::testing::Values(1, 2, 3, 4, 6));

class OneGraph : public ::testing::Test {
protected:
    data::Dataset dataset_ = testing::open(gnnplan::testing::random_symmetric(19, 3, 6, 3, 2));
    Plan plan_ = testing::make_plan(dataset_, 5, true, 3, {{3, 6}, {1, 9}});
};

TEST_F(OneGraph, PeakIsPredictedForTheChosenCandidateAfterTuning) {
    TrainOptions options = short_run();
    options.autotune = 1;
    for (const int favourite : {0, 1}) {
        const auto trained = testing::train_ranks(
            plan_, dataset_, options, [&](int, int candidate) { return candidate == favourite ? 1.0 : 2.0; });
        const RunReport& report = trained.front().report;
        EXPECT_EQ(report.chosen, favourite);
        EXPECT_EQ(report.configuration.id, plan_.candidates[static_cast<std::size_t>(favourite)].configuration.id);
        EXPECT_EQ(report.measured.peak_bytes_per_rank, report.predicted.peak_bytes_per_rank);
        EXPECT_EQ(deploy::byte_mismatch(report), std::nullopt);
    }
}

TEST_F(OneGraph, TheSameSeedGivesTheSameBitsAndAnotherDoesNot) {
    TrainOptions options = short_run();
    const auto first = testing::train_ranks(plan_, dataset_, options, testing::steady_tick);
    const auto second = testing::train_ranks(plan_, dataset_, options, testing::steady_tick);
    options.seed = 2;
    const auto other = testing::train_ranks(plan_, dataset_, options, testing::steady_tick);
    EXPECT_EQ(first[0].parameters, second[0].parameters);
    EXPECT_NE(first[0].parameters, other[0].parameters);
    ASSERT_EQ(first[0].parameters.size(), 4U);
    for (std::size_t rank = 1; rank < first.size(); ++rank) EXPECT_EQ(first[0].parameters, first[rank].parameters);
}

TEST_F(OneGraph, ReportsWhatItDidOnEveryRankAlike) {
    TrainOptions options = short_run();
    options.eval_every = 3;
    options.load_seconds = 2.5;
    const auto trained = testing::train_ranks(plan_, dataset_, options, testing::steady_tick);
    const RunReport& report = trained.front().report;
    EXPECT_FALSE(report.epochs[0].judgement.accuracy.test);
    EXPECT_TRUE(report.epochs[2].judgement.accuracy.test);
    EXPECT_TRUE(report.epochs[3].judgement.accuracy.train);  // the last epoch always
    EXPECT_EQ(report.ranks, 3);
    EXPECT_TRUE(report.tried.empty());
    ASSERT_EQ(report.setup.size(), 3U);
    EXPECT_EQ(report.setup[0].kind, "load");
    EXPECT_EQ(report.setup[0].measured_seconds, 2.5);
    EXPECT_TRUE(bytes_as_predicted(report.setup));
    for (const StepRecord& step : report.steps) EXPECT_EQ(step.measured_seconds, 1) << step.name;  // one tick
    EXPECT_EQ(report.fingerprints.graph, dataset_.fingerprint());
    for (const auto& rank : trained) {
        EXPECT_EQ(rank.report.measured.epoch_seconds, report.measured.epoch_seconds);
        EXPECT_EQ(rank.report.epochs.back().loss, report.epochs.back().loss);
    }
}

// Unless told otherwise, evaluations are predicted to take a tenth of the training time at most.
TEST_F(OneGraph, EvaluatesAsOftenAsATenthOfTheTimeAllows) {
    const Candidate& first = plan_.candidates.front();
    const double evaluation = predicted_seconds(first, Phase::evaluation);
    ASSERT_GT(evaluation, 0);
    const std::int64_t every = automatic_eval_every(first);
    EXPECT_LE(evaluation, evaluation_share * static_cast<double>(every) * first.predicted.epoch_seconds);
    EXPECT_GT(every, 1);
    TrainOptions options = short_run();
    options.epochs = every + 1;
    const auto trained = testing::train_ranks(plan_, dataset_, options, testing::steady_tick);
    const RunReport& report = trained.front().report;
    EXPECT_EQ(report.eval_every, every);
    for (const EpochRecord& epoch : report.epochs) {
        EXPECT_EQ(epoch.judgement.accuracy.test.has_value(), epoch.epoch >= every) << epoch.epoch;
    }
    ASSERT_TRUE(report.wall);
    EXPECT_EQ(report.wall->evaluations, 2);
    EXPECT_EQ(report.wall->evaluations, evaluations(options.epochs, every));
}

TEST_F(OneGraph, SaysWhereTheTimeWent) {
    TrainOptions options = short_run();
    options.load_seconds = 2.5;
    options.eval_every = 2;
    const auto trained = testing::train_ranks(plan_, dataset_, options, testing::steady_tick);
    const WallTimes wall = trained.front().report.wall.value();
    EXPECT_EQ(wall.load_seconds, 2.5);
    double training = 0;
    for (const EpochRecord& epoch : trained.front().report.epochs) training += epoch.seconds;
    EXPECT_EQ(wall.training_seconds, training);
    EXPECT_EQ(wall.evaluations, 2);
    EXPECT_GT(wall.setup_seconds, 0);
    EXPECT_GT(wall.evaluation_seconds, 0);
    EXPECT_GE(wall.total_seconds,
              wall.load_seconds + wall.setup_seconds + wall.training_seconds + wall.evaluation_seconds);
}

// One rank that is told to stop ends the run on all, after a whole epoch, which is not evaluated for that.
TEST_F(OneGraph, EndsWhenOneRankIsToldTo) {
    TrainOptions options = short_run();
    options.epochs = 100;
    const auto trained = testing::train_ranks(
        plan_, dataset_, options, testing::steady_tick, [](int rank, std::int64_t asked) -> std::optional<std::string> {
            return rank == 1 && asked == 3 ? std::optional<std::string>("enough") : std::nullopt;
        });
    for (std::size_t rank = 0; rank < trained.size(); ++rank) {
        const RunReport& report = trained[rank].report;
        EXPECT_EQ(report.epochs.size(), 3U);
        EXPECT_FALSE(report.epochs.back().judgement.accuracy.test);
        EXPECT_EQ(report.ended, rank == 1 ? "enough" : "another rank was told to stop");
        EXPECT_EQ(deploy::byte_mismatch(report), std::nullopt);
    }
}

TEST_F(OneGraph, NeverEvaluatesWhenToldSo) {
    TrainOptions options = short_run();
    options.eval_every = 0;
    const auto trained = testing::train_ranks(plan_, dataset_, options, testing::steady_tick);
    EXPECT_FALSE(trained.front().report.epochs.back().judgement.accuracy.test);
    EXPECT_TRUE(trained.front().report.evaluation.empty());
}

// The slowest rank's time counts, and the first epoch after a build does not.
TEST_F(OneGraph, TimesAreThoseOfTheSlowestRank) {
    const auto trained =
        testing::train_ranks(plan_, dataset_, short_run(), [](int rank, int) { return rank == 1 ? 3.0 : 1.0; });
    const RunReport& report = trained.front().report;
    for (const StepRecord& step : report.steps) EXPECT_EQ(step.measured_seconds, 3) << step.name;
    EXPECT_EQ(report.measured.epoch_seconds, report.epochs.back().seconds);
}

TEST_F(OneGraph, EndsWhenTheLossIsNoLongerFinite) {
    TrainOptions options = short_run();
    options.epochs = 50;
    options.learning_rate = 1e38;
    const auto trained = testing::train_ranks(plan_, dataset_, options, testing::steady_tick);
    for (const auto& rank : trained) {
        EXPECT_EQ(rank.report.ending, Ending::diverged);
        EXPECT_EQ(rank.report.ended, "the loss is no longer finite");
        EXPECT_LT(rank.report.epochs.size(), 50U);
        EXPECT_FALSE(std::isfinite(rank.report.epochs.back().loss));
        EXPECT_EQ(deploy::byte_mismatch(rank.report), std::nullopt) << "the epochs before it count";
    }
}

// Its loss is that of the weights before.
TEST_F(OneGraph, SeesWhatTheLastUpdateDid) {
    TrainOptions options = short_run();
    options.epochs = 1;
    options.learning_rate = 1e39;
    const RunReport report = testing::train_ranks(plan_, dataset_, options, testing::steady_tick).front().report;
    EXPECT_EQ(report.ending, Ending::diverged);
    EXPECT_EQ(report.ended, "the last update made weights that are not finite");
    EXPECT_TRUE(std::isfinite(report.epochs.back().loss));
    EXPECT_FALSE(report.epochs.back().judgement.accuracy.test);
}

TEST_F(OneGraph, RefusesAnotherNumberOfRanks) {
    comm::run_ranks(2, [&](comm::Communicator& comm) {
        testing::FakeClock clock;
        try {
            train(comm, plan_, dataset_, short_run(), {}, clock);
            ADD_FAILURE() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::mismatch);
        }
    });
}

// The byte test can fail: a schedule whose messages are not those that were predicted.
TEST(ByteMismatch, NamesTheStepAndTheRank) {
    RunReport report;
    StepRecord record;
    record.name = "forward.1.redistribute";
    record.predicted_bytes_by_rank = {8, 16};
    record.counted_bytes_by_rank = {8, 16};
    report.steps.push_back(record);
    EXPECT_EQ(deploy::byte_mismatch(report), std::nullopt);
    report.steps[0].counted_bytes_by_rank[1] = 12;
    EXPECT_EQ(deploy::byte_mismatch(report), "step forward.1.redistribute on rank 1: predicted 16 bytes, counted 12");
    report.steps[0].counted_bytes_by_rank[1] = 16;
    report.measured.max_rank_bytes = 1;
    EXPECT_TRUE(deploy::byte_mismatch(report));
}

}  // namespace
}  // namespace gnnplan::train
