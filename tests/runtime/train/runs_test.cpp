// Several runs in one training, which differ in their seed: each has the bits of a training of that seed alone, also
// where it goes on from a checkpoint.
#include "runtime/train/finished.hpp"
#include "runtime/train/seed_runs.hpp"
#include "tests/runtime/train/fixture.hpp"

#include <gmock/gmock.h>

#include <tuple>

namespace gnnplan::train {
namespace {

using ::testing::ElementsAre;

std::vector<std::tuple<double, std::optional<double>, std::optional<double>>> bits(
    const std::vector<EpochRecord>& epochs) {
    std::vector<std::tuple<double, std::optional<double>, std::optional<double>>> all;
    all.reserve(epochs.size());
    for (const EpochRecord& epoch : epochs)
        all.emplace_back(epoch.loss, epoch.judgement.accuracy.valid, epoch.judgement.accuracy.test);
    return all;
}

// Those that the last run leaves.
std::vector<std::vector<float>> parameters(const testing::Trained& trained) {
    constexpr std::ptrdiff_t of_model = 4;  // weights and biases of two layers
    EXPECT_GE(std::ssize(trained.parameters), of_model);
    return {trained.parameters.end() - of_model, trained.parameters.end()};
}

class Runs : public testing::SmallTrainings {
protected:
    Runs() : SmallTrainings(6) { options_.seed = 4; }

    testing::Trained of_seed(const Plan& plan, std::uint64_t seed) const {
        TrainOptions alone = options_;
        alone.seed = seed;
        return testing::train_ranks(plan, dataset_, alone, testing::steady_tick)[0];
    }
    testing::Trained of_three(const Plan& plan) {
        options_.runs = 3;
        testing::Trained all = run(plan)[0];
        options_.runs = 1;
        return all;
    }
};

TEST_F(Runs, EachIsThatOfItsSeedAlone) {
    for (const double features_dropout : {0.25, 0.0}) {  // without, the first product is kept for all runs
        options_.input_dropout = features_dropout;
        const Plan plan =
            testing::make_plan(dataset_, 5, true, 3, {{3, 0, features_dropout == 0, features_dropout == 0}});
        const testing::Trained all = of_three(plan);
        const TrainingState& end = all.states.back();
        ASSERT_EQ(end.runs_before.size(), 2U);
        std::vector<std::vector<EpochRecord>> epochs = end.runs_before;
        epochs.push_back(end.epochs);
        for (std::uint64_t seed = 4; seed < 7; ++seed) {
            const testing::Trained alone = of_seed(plan, seed);
            EXPECT_EQ(bits(epochs[seed - 4]), bits(alone.report.epochs)) << "seed " << seed;
            if (seed == 6) {
                EXPECT_EQ(parameters(all), parameters(alone));
            }
        }
        EXPECT_NE(bits(epochs[0]), bits(epochs[1]));
        EXPECT_EQ(all.candidates.size(), 1U) << "it is built once";
        EXPECT_EQ(all.report.seed, 6U);
        ASSERT_EQ(all.report.runs.size(), 3U);
        EXPECT_EQ(all.report.runs[1].seed, 5U);
        EXPECT_EQ(all.report.runs[1].epochs, 6);
        EXPECT_EQ(all.report.runs[1].loss, epochs[1].back().loss);
        EXPECT_EQ(all.report.measured.peak_bytes_per_rank, all.report.predicted.peak_bytes_per_rank);
    }
}

TEST_F(Runs, EachHasItsOwnPatienceAndRate) {
    options_.epochs = 40;
    options_.patience = 2;
    options_.schedule = read_schedule("plateau:0.5:0");
    options_.learning_rate = 0.3;
    const Plan plan = this->plan(2, {{2, 6}});
    const testing::Trained all = of_three(plan);
    for (std::uint64_t seed = 4; seed < 7; ++seed) {
        const RunReport alone = of_seed(plan, seed).report;
        EXPECT_EQ(all.report.runs[seed - 4].epochs, std::ssize(alone.epochs));
        EXPECT_EQ(all.report.runs[seed - 4].loss, alone.epochs.back().loss);
        EXPECT_LT(std::ssize(alone.epochs), 40) << "patience has no part in it";
    }
}

TEST_F(Runs, GoOnFromAnyOfTheirEpochs) {
    const Plan plan = this->plan(3, {{1, 9}});
    const testing::Trained whole = of_three(plan);
    for (const std::size_t done : {1U, 5U, 6U, 7U, 12U, 16U}) {  // of 18 epochs in all
        const TrainingState start = whole.states[done - 1];
        EXPECT_EQ(start.epochs_of_all_runs(), static_cast<std::int64_t>(done));
        options_.start = &start;
        const testing::Trained rest = of_three(plan);
        EXPECT_EQ(parameters(rest), parameters(whole)) << "after " << done;
        EXPECT_EQ(bits(rest.states.back().runs_before[1]), bits(whole.states.back().runs_before[1]));
        EXPECT_EQ(rest.report.spreads[0].test->mean, whole.report.spreads[0].test->mean);
        EXPECT_EQ(rest.report.resumed_after.has_value(), done > 12);
    }
    options_.start = &whole.states.back();
    options_.runs = 3;
    EXPECT_TRUE(is_finished(options_));
    options_.runs = 4;
    EXPECT_FALSE(is_finished(options_)) << "another seed was not trained yet";
}

TEST_F(Runs, TheFirstTunesForAll) {
    options_.autotune = 1;
    Plan plan = this->plan(2, {{2, 6}, {1, 9}});
    plan.fingerprints.content = "xxh64:1";
    const auto second_is_fastest = [](int, int candidate) { return candidate == 1 ? 1.0 : 2.0; };
    options_.runs = 2;
    const auto whole = testing::train_ranks(plan, dataset_, options_, second_is_fastest)[0];
    EXPECT_THAT(whole.candidates, ElementsAre(0, 1));
    options_.start = &whole.states[8];
    const auto rest = testing::train_ranks(plan, dataset_, options_, second_is_fastest)[0];
    EXPECT_THAT(rest.candidates, ElementsAre(1)) << "it is known which one won";
    EXPECT_EQ(parameters(rest), parameters(whole));
}

TEST_F(Runs, EndWithTheOneThatIsInterrupted) {
    options_.runs = 3;
    const auto stop = [](int, std::int64_t asked) {
        return asked == 8 ? std::optional<std::string>("told to") : std::nullopt;
    };
    const RunReport report =
        testing::train_ranks(plan(2, {{2, 6}}), dataset_, options_, testing::steady_tick, stop)[0].report;
    EXPECT_EQ(report.ending, Ending::interrupted);
    ASSERT_EQ(report.runs.size(), 2U);
    EXPECT_EQ(report.runs[1].epochs, 2);
}

EpochRecord evaluated(std::int64_t epoch, std::optional<double> valid, double test) {
    return {epoch, 1.0 / static_cast<double>(epoch), {{test, valid, test}, {}, {}}, 1};
}

TEST(SeedRun, IsJudgedAtTheFirstBestValidation) {
    const SeedRun run = seed_run(7,
                                 {evaluated(1, 0.5, 0.1),
                                  evaluated(2, 0.75, 0.2),
                                  {3, 0.25, {}, 1},
                                  evaluated(4, 0.75, 0.3),
                                  evaluated(5, 0.25, 0.4)},
                                 BestBy::accuracy);
    EXPECT_EQ(run.seed, 7U);
    EXPECT_EQ(run.epochs, 5);
    EXPECT_EQ(run.loss, 0.2);
    EXPECT_EQ(run.best, 2);
    EXPECT_EQ(run.judgement.accuracy.test, 0.2);
    const SeedRun without =
        seed_run(7, {evaluated(1, {}, 0.4), evaluated(2, {}, 0.3), {3, 0.5, {}, 1}}, BestBy::accuracy);
    EXPECT_FALSE(without.best);
    EXPECT_EQ(without.judgement.accuracy.test, 0.3) << "the last one";
}

TEST(SeedRun, MayBeJudgedByTheLoss) {
    std::vector<EpochRecord> epochs{evaluated(1, 0.5, 0.1), evaluated(2, 0.25, 0.2), evaluated(3, 0.75, 0.3)};
    epochs[0].valid_loss = 0.5, epochs[1].valid_loss = 0.25, epochs[2].valid_loss = 0.25;
    EXPECT_EQ(seed_run(1, epochs, BestBy::loss).best, 2);
    EXPECT_EQ(seed_run(1, epochs, BestBy::accuracy).best, 3);
    epochs[1].valid_loss.reset();
    EXPECT_EQ(seed_run(1, epochs, BestBy::loss).best, 3);
}

// As torch.std has it, which OGB's scripts print.
TEST(SeedRun, SpreadsAreOfASample) {
    std::vector<SeedRun> runs(3);
    runs[0].judgement.accuracy = {0.5, 0.25, {}};
    runs[1].judgement.accuracy = {0.75, 0.25, 1};
    runs[2].judgement.accuracy = {1, 0.25, 1};
    const Spreads all = spreads_of(runs)[0];
    EXPECT_EQ(all.train->mean, 0.75);
    EXPECT_EQ(all.train->deviation, 0.25);
    EXPECT_EQ(all.valid->deviation, 0);
    EXPECT_FALSE(all.test) << "one has none";
    EXPECT_FALSE(spreads_of(std::span(runs).first(1))[0].train->deviation);
    EXPECT_FALSE(spreads_of(runs)[1].train) << "no run has an f1";
}

}  // namespace
}  // namespace gnnplan::train
