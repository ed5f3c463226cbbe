#include "planner/calibrate/learn.hpp"
#include "planner/calibrate/residual.hpp"
#include "planner/cost/correction.hpp"

#include <gnnplan/base/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace gnnplan::calibrate {
namespace {

// Ten even epochs of four steps, each of which takes so many times what was predicted.
RunReport run_of(const std::string& graph, double factor, double size = 1) {
    RunReport report;
    report.fingerprints.graph = graph;
    for (int epoch = 1; epoch <= 10; ++epoch) {
        EpochRecord& record = report.epochs.emplace_back();
        record.epoch = epoch;
        record.seconds = 0.01;
    }
    for (int i = 1; i <= 4; ++i) {
        StepRecord& step = report.steps.emplace_back();
        step.part = ModelPart::spmm;
        step.predicted_seconds = 1e-3 * i * size;
        step.advance_seconds = factor * step.predicted_seconds;
    }
    return report;
}

Profile profile() {
    Profile made;
    made.machine.calibration.emplace();
    return made;
}

TEST(Learning, CorrectsWhatItHasSeen) {
    Profile learner = profile();
    learn(learner, run_of("a", 1.3), "mine");
    learn(learner, run_of("b", 1.3, 20), "yours");
    learn(learner, run_of("b", 1.3, 20), "yours");
    EXPECT_EQ(learner.epoch_steps.size(), 8U) << "the same run counts once";
    EXPECT_EQ(learner.machine.calibration->learned_from, (std::vector<LearnedGraph>{{"mine", "a"}, {"yours", "b"}}));
    correct(learner);
    EXPECT_NEAR(cost::corrected(learner.machine, ModelPart::spmm, 0.01) / 0.01, 1.3, 0.01);
}

// A correction learned on one graph holds for another one that is alike, and is not learned again from later runs that
// are predicted with it.
TEST(Learning, FromOneGraphDoesNotWorsenAnother) {
    Profile learner = profile();
    learn(learner, run_of("a", 1.3), "mine");
    correct(learner);
    const double other = cost::corrected(learner.machine, ModelPart::spmm, 0.005) / 0.005;
    EXPECT_LT(std::abs(other / 1.2 - 1), 0.2) << "a graph whose steps take 1.2 times";
    RunReport later = run_of("b", 1);
    for (StepRecord& step : later.steps) {
        const double raw = step.predicted_seconds;
        step.predicted_seconds = cost::corrected(learner.machine, ModelPart::spmm, raw);
        step.advance_seconds = 1.3 * raw;
    }
    learn(learner, later, "yours");
    correct(learner);
    EXPECT_NEAR(cost::corrected(learner.machine, ModelPart::spmm, 0.002) / 0.002, 1.3, 0.01);
}

TEST(Learning, ElementwiseWorkWithinAProductIsPartOfIt) {
    RunReport report = run_of("a", 1);
    const auto set = [&](std::size_t i, const char* kind, double predicted, double measured) {
        report.steps[i].kind = kind;
        report.steps[i].part = ModelPart::gemm;
        report.steps[i].predicted_seconds = predicted;
        report.steps[i].advance_seconds = measured;
    };
    set(1, "gemm", 0.010, 0.012);
    set(2, "map", 0.002, 1e-7);
    const std::vector<EpochStep> steps = epoch_steps(profile().machine, report, "a", 0);
    ASSERT_EQ(steps.size(), 3U);
    EXPECT_NEAR(steps[1].predicted, 0.012, 1e-12);
    EXPECT_NEAR(steps[1].measured, 0.012, 1e-6);
}

TEST(Learning, RefusesRunsThatTeachNothing) {
    const auto refusal = [](const std::function<void(RunReport&)>& alter) {
        Profile learner = profile();
        RunReport report = run_of("a", 1);
        alter(report);
        try {
            learn(learner, report, "run.json");
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data);
            EXPECT_TRUE(learner.epoch_steps.empty());
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    using ::testing::HasSubstr;
    EXPECT_EQ(refusal([](RunReport&) {}), "accepted");
    EXPECT_THAT(refusal([](RunReport& r) { r.task = Task::infer; }), HasSubstr("inference"));
    EXPECT_THAT(refusal([](RunReport& r) { r.backend = "cuda"; }), HasSubstr("accelerator"));
    EXPECT_THAT(refusal([](RunReport& r) { r.oversubscribed = true; }), HasSubstr("fewer processing units"));
    EXPECT_THAT(refusal([](RunReport& r) { r.steps[1].part.reset(); }), HasSubstr("which part of the model"));
    EXPECT_THAT(refusal([](RunReport& r) { r.epochs.resize(4); }), HasSubstr("fewer than five epochs"));
    EXPECT_THAT(refusal([](RunReport& r) {
                    for (int i = 0; i < 4; ++i) r.epochs[static_cast<std::size_t>(2 * i)].seconds *= 1.5;
                }),
                HasSubstr("disturbed"));
}

}  // namespace
}  // namespace gnnplan::calibrate
