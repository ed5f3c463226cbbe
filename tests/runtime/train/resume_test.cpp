// Training that goes on from what an earlier training left.
#include "runtime/deploy/model_values.hpp"
#include "runtime/train/finished.hpp"
#include "tests/runtime/train/fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace gnnplan::train {
namespace {

using ::testing::HasSubstr;

std::vector<double> losses(const RunReport& report) {
    std::vector<double> losses;
    for (const EpochRecord& epoch : report.epochs) losses.push_back(epoch.loss);
    return losses;
}

class Resume : public testing::SmallTrainings {
protected:
    Resume() : SmallTrainings(12) {}
};

TEST_F(Resume, TheSamePlanGivesTheSameBits) {
    const Plan plan = this->plan(3, {{3, 6}});
    const auto whole = run(plan);
    for (const std::size_t epoch : {1U, 5U, 11U}) {
        const TrainingState& start = whole[0].states[epoch - 1];
        options_.start = &start;
        const auto rest = run(plan);
        EXPECT_EQ(rest[0].parameters, whole[0].parameters) << "after epoch " << epoch;
        EXPECT_EQ(losses(rest[0].report), losses(whole[0].report));
        EXPECT_EQ(rest[0].report.resumed_after, epoch);
        EXPECT_EQ(rest[0].report.epochs.back().judgement.accuracy.test,
                  whole[0].report.epochs.back().judgement.accuracy.test);
        EXPECT_EQ(rest[0].states.back().epoch, 12);
    }
}

// An interruption evaluates nothing that would not have been: neither the best epoch nor patience may know of it.
TEST_F(Resume, HasTheEvaluationsOfARunThatWasNotInterrupted) {
    options_.eval_every = 5;
    const Plan plan = this->plan(2, {{2, 6}});
    const auto whole = run(plan);
    const auto interrupted = testing::train_ranks(
        plan, dataset_, options_, testing::steady_tick,
        [](int, std::int64_t asked) { return asked == 7 ? std::optional<std::string>("told to") : std::nullopt; });
    ASSERT_EQ(interrupted[0].report.ending, Ending::interrupted);
    EXPECT_FALSE(interrupted[0].report.epochs.back().judgement.accuracy.valid);
    options_.start = &interrupted[0].states.back();
    const auto rest = run(plan);
    for (std::size_t i = 0; i < 12; ++i)
        EXPECT_EQ(rest[0].report.epochs[i].judgement.accuracy.valid, whole[0].report.epochs[i].judgement.accuracy.valid)
            << i + 1;
}

// Rates follow from the losses of all epochs, those before the checkpoint too.
TEST_F(Resume, TheRateGoesOnWhereItWas) {
    const Plan plan = this->plan(2, {{2, 6}});
    std::vector<std::vector<double>> of_schedules;
    for (const char* text : {"", "step:3:0.5", "warmup:8", "cosine:12", "plateau:0.5:0"}) {
        options_.start = nullptr;
        options_.schedule = read_schedule(text);
        options_.learning_rate = 0.3;  // losses rise now and then
        const auto whole = run(plan);
        of_schedules.push_back(losses(whole[0].report));
        for (const std::size_t epoch : {1U, 5U, 11U}) {
            options_.start = &whole[0].states[epoch - 1];
            const auto rest = run(plan);
            EXPECT_EQ(rest[0].parameters, whole[0].parameters) << text << " after epoch " << epoch;
            EXPECT_EQ(losses(rest[0].report), of_schedules.back()) << text;
        }
        for (std::size_t other = 0; other + 1 < of_schedules.size(); ++other)
            EXPECT_NE(of_schedules.back(), of_schedules[other]) << text;
    }
}

// Other grids add up in another order.
TEST_F(Resume, AnotherPlanGoesOnToRounding) {
    const auto whole = run(plan(4, {{2, 6}}));
    options_.start = &whole[0].states[4];
    for (const auto& [ranks, choice] : std::vector<std::pair<int, testing::Choice>>{
             {1, {1, 0}}, {2, {2, 15}}, {3, {1, 9}}, {4, {4, 3}}, {6, {3, 10}}}) {
        const auto rest = run(plan(ranks, {choice}));
        ASSERT_EQ(rest[0].report.epochs.size(), 12U);
        for (std::size_t i = 0; i < 12; ++i) {
            const double expected = whole[0].report.epochs[i].loss;
            EXPECT_NEAR(rest[0].report.epochs[i].loss, expected, 1e-5 * expected) << ranks << " ranks, epoch " << i + 1;
        }
    }
}

// A candidate that lost is not tried again, and one that was not tried yet is.
TEST_F(Resume, TuningGoesOnWhereItWas) {
    Plan plan = this->plan(2, {{2, 6}, {1, 9}, {2, 15}});
    plan.fingerprints.content = "xxh64:1";
    options_.autotune = 2;
    const auto second_is_fastest = [](int, int candidate) { return candidate == 1 ? 1.0 : 2.0; };
    const auto whole = testing::train_ranks(plan, dataset_, options_, second_is_fastest);
    ASSERT_EQ(whole[0].candidates, (std::vector<int>{0, 1, 2, 1}));
    const auto after = [&](std::size_t epoch, const Plan& next) {
        options_.start = &whole[0].states[epoch - 1];
        return testing::train_ranks(next, dataset_, options_, second_is_fastest)[0];
    };
    EXPECT_EQ(after(1, plan).candidates, (std::vector<int>{0, 1, 2, 1}));
    EXPECT_EQ(after(2, plan).candidates, (std::vector<int>{1, 2, 1}));
    EXPECT_EQ(after(5, plan).candidates, (std::vector<int>{2, 1}));
    EXPECT_EQ(after(6, plan).candidates, (std::vector<int>{1}));
    EXPECT_EQ(after(9, plan).candidates, (std::vector<int>{1}));
    EXPECT_EQ(after(9, plan).report.tried.size(), 3U);
    Plan other = plan;
    other.fingerprints.content = "xxh64:2";
    EXPECT_EQ(after(4, other).candidates, (std::vector<int>{0, 1, 2, 1})) << "another plan's candidates are tried anew";
}

// The best epoch is then that of the lowest loss of the validation vertices, which checkpoints have.
TEST_F(Resume, TheBestMayBeThatOfTheLowestLoss) {
    options_.keep_best = true;
    options_.learning_rate = 0.3;
    options_.epochs = 30;
    std::map<BestBy, std::int64_t> best;
    for (const BestBy by : {BestBy::accuracy, BestBy::loss}) {
        options_.best_by = by;
        options_.start = nullptr;
        const Plan plan = this->plan(3, {{3, 6}});
        const auto whole = run(plan);
        const std::vector<EpochRecord>& epochs = whole[0].report.epochs;
        best[by] = whole[0].report.best_epoch.value();
        if (by == BestBy::loss) {
            const auto lowest =
                std::ranges::min_element(epochs, {}, [](const EpochRecord& epoch) { return epoch.valid_loss.value(); });
            EXPECT_EQ(best[by], lowest->epoch);
        }
        for (const std::size_t epoch : {5U, 15U, 29U}) {
            options_.start = &whole[0].states[epoch - 1];
            const auto rest = run(plan);
            EXPECT_EQ(rest[0].report.best_epoch, best[by]);
            EXPECT_EQ(rest[0].states.back().tensors.size(), whole[0].states.back().tensors.size());
            for (std::size_t i = 0; i < rest[0].states.back().tensors.size(); ++i)
                EXPECT_EQ(rest[0].states.back().tensors[i].values, whole[0].states.back().tensors[i].values);
        }
        options_.start = &whole[0].states[28];
        options_.best_by = by == BestBy::loss ? BestBy::accuracy : BestBy::loss;
        EXPECT_EQ(run(plan)[0].report.best_epoch, 30) << "weights that are the best by another measure are not kept";
    }
    EXPECT_NE(best[BestBy::accuracy], best[BestBy::loss]);
}

TEST_F(Resume, PatienceMayWaitForALowerLoss) {
    options_.best_by = BestBy::loss;
    options_.patience = 3;
    options_.learning_rate = 0.3;
    options_.epochs = 100;
    const RunReport report = run(plan(2, {{2, 6}}))[0].report;
    ASSERT_EQ(report.ending, Ending::patience);
    EXPECT_EQ(report.ended, "no lower validation loss in 3 evaluations");
    double lowest = 1e9;
    std::int64_t since = 0;
    for (const EpochRecord& epoch : report.epochs) {
        EXPECT_LT(since, 3) << "before epoch " << epoch.epoch;
        since = epoch.valid_loss < lowest ? 0 : since + 1;
        lowest = std::min(lowest, epoch.valid_loss.value());
    }
    EXPECT_EQ(since, 3);
}

TEST_F(Resume, NothingIsLeftAfterTheLastEpoch) {
    const Plan plan = this->plan(2, {{2, 6}});
    const auto whole = run(plan);
    options_.start = &whole[0].states.back();
    EXPECT_TRUE(is_finished(options_));
    try {
        run(plan);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_THAT(error.what(), HasSubstr("nothing is left to train after epoch 12 of 12"));
    }
    options_.epochs = 15;
    EXPECT_FALSE(is_finished(options_));
    EXPECT_EQ(run(plan)[0].report.epochs.size(), 15U);
}

TEST_F(Resume, GivenWeightsAreThoseOfTheFirstEpoch) {
    const Plan plan = this->plan(2, {{2, 6}});
    const auto whole = run(plan);
    std::vector<NamedTensor> weights = whole[0].states.back().tensors;
    std::erase_if(weights, [](const NamedTensor& tensor) { return !tensor.name.starts_with("layers."); });
    ASSERT_EQ(weights.size(), 4U);
    options_.weights = &weights;
    options_.dropout = 0;
    const auto again = run(plan);
    EXPECT_LT(again[0].report.epochs[0].loss, whole[0].report.epochs[0].loss);
    for (std::size_t rank = 1; rank < again.size(); ++rank) {
        EXPECT_EQ(again[rank].parameters, again[0].parameters);
    }
    for (NamedTensor& tensor : weights) std::fill(tensor.values.begin(), tensor.values.end(), 0.0F);
    EXPECT_NEAR(run(plan)[0].report.epochs[0].loss, std::log(dataset_.classes()), 1e-6) << "zeros know nothing";
}

TEST_F(Resume, BestWeightsAreThoseOfTheBestEpoch) {
    options_.keep_best = true;
    const auto whole = run(plan(2, {{2, 6}}));
    const RunReport& report = whole[0].report;
    ASSERT_TRUE(report.best_epoch);
    const std::int64_t best = *report.best_epoch;
    const auto accuracy = report.epochs[static_cast<std::size_t>(best - 1)].judgement.accuracy.valid;
    for (const EpochRecord& epoch : report.epochs) {
        EXPECT_LE(epoch.judgement.accuracy.valid, accuracy);
        EXPECT_TRUE(epoch.epoch >= best || epoch.judgement.accuracy.valid < accuracy) << "the first of the best";
    }
    const auto find = [](const TrainingState& state, const std::string& name) {
        for (const NamedTensor& tensor : state.tensors) {
            if (tensor.name == name) return tensor.values;
        }
        return std::vector<float>();
    };
    const TrainingState& last = whole[0].states.back();
    const TrainingState& then = whole[0].states[static_cast<std::size_t>(best - 1)];
    EXPECT_FALSE(find(last, "best.layers.1.weight").empty());
    EXPECT_EQ(find(last, "best.layers.1.weight"), find(then, "layers.1.weight"));
    EXPECT_EQ(find(last, "best.layers.2.bias"), find(then, "layers.2.bias"));

    options_.start = &last;
    options_.epochs = 13;
    options_.learning_rate = 1e-9;  // as good as last time, which is not better
    const auto rest = run(plan(2, {{2, 6}}));
    if (rest[0].report.best_epoch == best) {
        EXPECT_EQ(find(rest[0].states.back(), "best.layers.1.weight"), find(then, "layers.1.weight"));
    }
}

TEST_F(Resume, PatienceEndsARunThatGetsNoBetter) {
    options_.epochs = 100;
    options_.patience = 3;
    options_.learning_rate = 1e-12;
    const auto trained = run(plan(2, {{2, 6}}));
    for (const auto& rank : trained) {
        EXPECT_EQ(rank.report.ending, Ending::patience);
        EXPECT_EQ(rank.report.ended, "no better validation accuracy in 3 evaluations");
        EXPECT_EQ(rank.report.epochs.size(), 4U);
    }
    options_.start = &trained[0].states[1];  // one of the three is over
    EXPECT_FALSE(is_finished(options_));
    EXPECT_EQ(run(plan(2, {{2, 6}}))[0].report.epochs.size(), 4U);
    options_.start = &trained[0].states[3];
    EXPECT_TRUE(is_finished(options_));
    const RunReport again = report_of_finished(plan(2, {{2, 6}}), options_, dataset_);
    EXPECT_EQ(again.ending, Ending::patience);
    EXPECT_EQ(losses(again), losses(trained[0].report));
    options_.patience = 4;
    EXPECT_FALSE(is_finished(options_));
    EXPECT_EQ(run(plan(2, {{2, 6}}))[0].report.epochs.size(), 5U);
}

void expect_mismatch(const std::vector<NamedTensor>& values, const Schedule& schedule, const std::string& why) {
    try {
        deploy::check_values(values, schedule, true, "file");
        ADD_FAILURE() << "no error: " << why;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::mismatch);
        EXPECT_THAT(error.what(), HasSubstr(why));
    }
}

TEST_F(Resume, AnotherModelsValuesAreRefused) {
    const Plan plan = this->plan(1, {{1, 6}});
    const Schedule& schedule = plan.candidates[0].schedule;
    options_.epochs = 1;
    const std::vector<NamedTensor> right = run(plan)[0].states[0].tensors;
    EXPECT_NO_THROW(deploy::check_values(right, schedule, true, "file"));
    std::vector<NamedTensor> wrong = right;
    wrong.erase(wrong.begin());
    expect_mismatch(wrong, schedule, "file: the plan's model has layers.");
    wrong = right;
    wrong[0].shape = {5, 6};
    expect_mismatch(wrong, schedule, "is 5 x 6, that of the plan's model 6 x 5 (is it transposed?");
    wrong[0].shape = {5, 5};
    expect_mismatch(wrong, schedule, "is 5 x 5, that of the plan's model 6 x 5");
    wrong = right;
    wrong.push_back({"layers.3.weight", {3, 3}, std::vector<float>(9)});
    expect_mismatch(wrong, schedule, "it has layers.3.weight, which the plan's model does not have");
}

}  // namespace
}  // namespace gnnplan::train
