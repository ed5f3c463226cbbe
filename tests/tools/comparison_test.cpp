// Two runs side by side; plans are compared through the tool (compare_test.cpp).
#include "tools/advise/comparison.hpp"
#include "planner/io/files.hpp"
#include "planner/io/report.hpp"

#include <gnnplan/base/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace gnnplan::tools {
namespace {

StepRecord step(const char* kind, std::int64_t bytes, double predicted, double measured) {
    StepRecord record;
    record.kind = kind;
    record.counted_bytes = bytes;
    record.predicted_seconds = predicted;
    record.measured_seconds = measured;
    return record;
}

RunReport report(int ranks) {
    RunReport run;
    run.ranks = ranks;
    run.fingerprints = {"graph", "machine", "plan"};
    run.configuration.grid = {1, ranks, 1};
    run.configuration.forward = parse_orders("SD");
    run.configuration.backward = parse_orders("SS");
    run.steps = {step("spmm", 0, 1, 2), step("redistribute", 100, 3, 4), step("spmm", 10, 5, 6)};
    run.predicted.epoch_seconds = 9;
    run.measured.epoch_seconds = 12;
    run.measured.total_bytes = 110;
    return run;
}

const Compared& find(const std::vector<Compared>& compared, const std::string& name) {
    for (const Compared& c : compared) {
        if (c.name == name) return c;
    }
    throw std::runtime_error("no " + name);
}

TEST(Comparison, KindsAreSummedAndMeasuredWhereBothAre) {
    RunReport other = report(4);
    other.steps.pop_back();
    other.steps.push_back(step("gemm", 0, 1, 8));
    const Comparison comparison = compare(side_of(report(4)), side_of(other));
    EXPECT_TRUE(comparison.kinds_measured);
    EXPECT_EQ(find(comparison.kind_seconds, "spmm").a, 8);
    EXPECT_EQ(find(comparison.kind_seconds, "spmm").b, 2);
    EXPECT_EQ(find(comparison.kind_seconds, "spmm").ratio(), 0.25);
    // A kind that only one has took the other no time.
    EXPECT_EQ(find(comparison.kind_seconds, "gemm").a, 0);
    EXPECT_EQ(find(comparison.kind_seconds, "gemm").ratio(), std::nullopt);
    EXPECT_EQ(find(comparison.kind_bytes, "spmm").a, 10);
    EXPECT_TRUE(comparison.problem.empty());
}

TEST(Comparison, WhatDiffersInTheProblemIsNamed) {
    RunReport other = report(8);
    other.fingerprints.graph = "another";
    other.fingerprints.machine = "";  // not said: no difference
    const Comparison comparison = compare(side_of(report(4)), side_of(other));
    ASSERT_EQ(comparison.problem.size(), 2U);
    EXPECT_EQ(comparison.problem[0].name, "graph fingerprint");
    EXPECT_EQ(comparison.problem[1].name, "ranks");
    EXPECT_EQ(comparison.problem[1].a, "4");
    EXPECT_EQ(comparison.problem[1].b, "8");
}

TEST(Comparison, SettingsThatDifferAreNamed) {
    RunReport one = report(4), other = report(4);
    EXPECT_TRUE(compare(side_of(one), side_of(other)).settings.empty()) << "nobody knows";
    one.settings = other.settings.emplace();
    EXPECT_TRUE(compare(side_of(one), side_of(other)).settings.empty());
    one.settings->learning_rate = 0.01;
    other.settings->learning_rate = 0.5;
    other.settings->patience = 10;
    const Comparison comparison = compare(side_of(one), side_of(other));
    ASSERT_EQ(comparison.settings.size(), 2U);
    EXPECT_EQ(comparison.settings[0].name, "learning rate");
    EXPECT_EQ(comparison.settings[0].a, "0.01");
    EXPECT_EQ(comparison.settings[0].b, "0.5");
    EXPECT_EQ(comparison.settings[1].name, "patience");
    EXPECT_EQ(comparison.settings[1].a, "none");
    EXPECT_TRUE(comparison.problem.empty());
}

TEST(Comparison, SaysWhichRunsDidNotTakeAllEpochsInOneGo) {
    RunReport run = report(4);
    run.epochs.resize(3);
    run.epochs.back().epoch = 120;
    EXPECT_EQ(side_of(run).course, "");
    run.ending = Ending::interrupted;
    run.ended = "interrupted by SIGTERM";
    EXPECT_EQ(side_of(run).course, "ended early: interrupted by SIGTERM after epoch 120");
    run.settings.emplace().epochs = 200;
    run.resumed_after = 40;
    EXPECT_EQ(side_of(run).course,
              "resumed after epoch 40: its times are of later epochs; "
              "ended early: interrupted by SIGTERM after epoch 120 of 200");
    const io::Document document = encode(compare(side_of(report(4)), side_of(run)));
    EXPECT_EQ(io::dump(*document.find("a")).find("ending"), std::string::npos);
    EXPECT_NE(io::dump(*document.find("b")).find(R"("ending": "interrupted", "resumed_after": 40)"), std::string::npos);
}

TEST(Comparison, WithoutAMeasurementOnBothSidesKindsArePredicted) {
    Side plan = side_of(report(4));
    plan.measured_seconds.reset();
    const Comparison comparison = compare(plan, side_of(report(4)));
    EXPECT_FALSE(comparison.kinds_measured);
    EXPECT_EQ(find(comparison.kind_seconds, "spmm").b, 6);
    EXPECT_EQ(find(comparison.seconds, "measured").ratio(), std::nullopt);
    EXPECT_EQ(find(comparison.seconds, "predicted").ratio(), 1);
}

TEST(Comparison, ARunThatWasResumedAfterItsEndMeasuredNothing) {
    RunReport run = report(2);
    run.steps.clear();
    run.resumed_after = 3;
    const std::string file = ::testing::TempDir() + "/resumed-after-its-end.json";
    io::write_file_atomically(file, io::write_report(run));
    try {
        read_side(file);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        EXPECT_THAT(error.what(), ::testing::HasSubstr(file + ": the run was resumed after its end"));
    }
}

TEST(Comparison, TiesAreThoseOfTheMachinesError) {
    const auto tie = [](double b, double error) {
        Side first = side_of(report(4)), second = side_of(report(4));
        first.machine.emplace().calibration.emplace().error_median = error;
        second.predicted_seconds = b;
        return compare(first, second).tie();
    };
    EXPECT_EQ(tie(10, 0.2), true);
    EXPECT_EQ(tie(10, 0.05), false);
    EXPECT_EQ(tie(8, 0.05), false);
    // A run report does not say what its predictions are for.
    EXPECT_EQ(compare(side_of(report(4)), side_of(report(4))).tie(), std::nullopt);
}

}  // namespace
}  // namespace gnnplan::tools
