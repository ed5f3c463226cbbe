#include "planner/calibrate/residual.hpp"
#include "planner/cost/correction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace gnnplan::calibrate {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;

// Epochs of three graphs in three runs each, whose steps take what `truth` makes of a prediction.
template <class Truth>
std::vector<EpochStep> epochs(const Truth& truth) {
    std::vector<EpochStep> steps;
    int run = 0;
    for (const auto& [graph, size] : {std::pair("small", 1.0), {"middle", 8.0}, {"large", 60.0}}) {
        for (int i = 0; i < 3; ++i, ++run) {
            for (const ModelPart part : {ModelPart::spmm, ModelPart::gemm, ModelPart::spmm}) {
                const double predicted = 1e-3 * size * (1 + i + 2 * static_cast<double>(part));
                steps.push_back({part, graph, run, predicted, truth(part, predicted)});
            }
        }
    }
    return steps;
}

// Kernels that take longer in epochs than in the loops of a calibration: 8 % all, and 20 % for dense products.
TEST(Corrections, LearnWhatEpochsTakeMore) {
    const auto truth = [](ModelPart part, double seconds) { return (part == ModelPart::gemm ? 1.2 : 1.08) * seconds; };
    Profile profile;
    profile.machine.calibration.emplace();
    profile.epoch_steps = epochs(truth);
    EXPECT_THAT(epoch_errors(profile.epoch_steps), Each(DoubleNear(0, 0.01))) << "of graphs left out";
    correct(profile);
    for (const double seconds : {2e-3, 0.1}) {
        EXPECT_NEAR(cost::corrected(profile.machine, ModelPart::spmm, seconds) / seconds, 1.08, 0.005);
        EXPECT_NEAR(cost::corrected(profile.machine, ModelPart::gemm, seconds) / seconds, 1.2, 0.01);
    }
    EXPECT_EQ(cost::corrected(profile.machine, ModelPart::loss, 1), 1) << "nothing was learned about it";
    EXPECT_LT(profile.machine.calibration->error_p90, 0.01);
    EXPECT_EQ(profile.machine.calibration->corrections.front().spread, 0.02) << "nothing is known better than to 2 %";
    EXPECT_NO_THROW(correct(profile)) << "again, from the same steps";
}

TEST(Corrections, FollowTheSizeOfSteps) {
    const auto truth = [](ModelPart, double seconds) { return seconds * std::pow(seconds / 1e-3, 0.05); };
    const std::vector<StepCorrection> found = fit_corrections(epochs(truth));
    ASSERT_EQ(found.size(), 2U);
    for (const StepCorrection& correction : found) EXPECT_NEAR(correction.slope, 0.05, 0.005);
}

TEST(Corrections, ADisturbedStepCountsLittle) {
    std::vector<EpochStep> steps = epochs([](ModelPart, double seconds) { return 1.1 * seconds; });
    steps[4].measured *= 5;
    for (const StepCorrection& correction : fit_corrections(steps)) EXPECT_NEAR(correction.factor, 1.1, 0.03);
}

TEST(Corrections, SpreadHoldsFourOfFiveSteps) {
    std::mt19937 random(3);
    std::normal_distribution<double> error(0, 0.1);
    std::vector<EpochStep> steps;
    for (int run = 0; run < 400; ++run) {
        steps.push_back({ModelPart::spmm, std::to_string(run % 9), run, 1e-3, 1e-3 * std::exp(error(random))});
    }
    EXPECT_NEAR(fit_corrections(steps).front().spread, 0.1, 0.015);
}

// Two graphs of which one takes a quarter longer: who knows one of them is off by that for the other, not by half.
TEST(Corrections, SpreadIsThatOfGraphsThatWereNotSeen) {
    std::vector<EpochStep> steps;
    for (int run = 0; run < 40; ++run) {
        const bool slow = run % 2 == 0;
        steps.push_back({ModelPart::spmm, slow ? "slow" : "fast", run, 1e-3, slow ? 1.25e-3 : 1e-3});
    }
    EXPECT_NEAR(fit_corrections(steps).front().spread, std::log(1.25) / 1.2816, 0.01);
}

TEST(Corrections, OfASingleGraphAreNotTrusted) {
    std::vector<EpochStep> steps = epochs([](ModelPart, double seconds) { return seconds; });
    std::erase_if(steps, [](const EpochStep& step) { return step.graph != "small"; });
    for (const StepCorrection& correction : fit_corrections(steps)) EXPECT_EQ(correction.spread, 0.06);
    steps.resize(3);
    EXPECT_TRUE(fit_corrections(steps).empty()) << "of three steps nothing is learned";
    EXPECT_TRUE(epoch_errors({}).empty());
}

TEST(Corrections, AreUndone) {
    Machine machine;
    machine.calibration.emplace().corrections = {{ModelPart::spmm, 1.3, -0.05, 0.1}};
    for (const double seconds : {1e-7, 1e-3, 4.0}) {
        const double corrected = cost::corrected(machine, ModelPart::spmm, seconds);
        EXPECT_NEAR(cost::uncorrected(machine, ModelPart::spmm, corrected) / seconds, 1, 1e-12);
    }
}

}  // namespace
}  // namespace gnnplan::calibrate
