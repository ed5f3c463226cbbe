// Runs analysed: which steps are marked, and what the pattern of errors is taken for.
#include "tools/advise/analysis.hpp"

#include "tools/gnnplan/analysis_output.hpp"
#include "tools/text/lines.hpp"

#include <gnnplan/base/error.hpp>
#include <gnnplan/base/words.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnplan::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t large = 1 << 24;

StepRecord step(const std::string& name, const std::string& kind, double predicted, double measured,
                std::int64_t bytes = 0) {
    StepRecord record;
    record.name = name;
    record.kind = kind;
    record.rows = 1000;
    record.columns = 16;
    record.predicted_bytes = record.counted_bytes = bytes;
    record.predicted_bytes_by_rank = record.counted_bytes_by_rank = {bytes / 2, bytes - bytes / 2};
    record.predicted_seconds = predicted;
    record.measured_seconds = measured;
    return record;
}

// An epoch as long as its steps.
RunReport run_of(std::vector<StepRecord> steps) {
    RunReport report;
    report.ranks = 2;
    report.threads = 3;
    for (const StepRecord& record : steps) {
        report.predicted.epoch_seconds += record.predicted_seconds;
        report.measured.epoch_seconds += record.measured_seconds;
    }
    report.steps = std::move(steps);
    return report;
}

// Every kind of work as predicted, but for the factors.
RunReport run_with(double communication, double spmm, double gemm, double map) {
    RunReport report =
        run_of({step("forward.1.spmm", "spmm", 0.2, 0.2 * spmm),
                step("forward.1.redistribute", "redistribute", 0.1, 0.1 * communication, large),
                step("forward.1.gemm", "gemm", 0.2, 0.2 * gemm), step("forward.1.activate", "map", 0.1, 0.1 * map),
                step("backward.2.redistribute", "redistribute", 0.3, 0.3 * communication, 3 * large),
                step("backward.1.weight_grad", "weight_grad", 0.1, 0.1 * gemm),
                step("update.W1", "update", 0.01, 0.01 * map)});
    report.steps[3].origin = {Pass::forward, 1, OpKind::relu};
    return report;
}

std::string cause(const RunReport& report) { return analyse(report, std::nullopt).hint.cause; }

TEST(Analysis, MarksTheStepsThatErrByMostSecondsNotByMostFold) {
    const Analysis analysis = analyse(run_of({step("a", "map", 1e-6, 1e-4), step("b", "spmm", 1, 1.5),
                                              step("c", "gemm", 1, 0.7), step("d", "gemm", 1, 1.001)}),
                                      std::nullopt);
    EXPECT_EQ(analysis.steps[1].worst, 1);
    EXPECT_EQ(analysis.steps[2].worst, 2);
    EXPECT_EQ(analysis.steps[0].worst, 0);
    EXPECT_EQ(analysis.steps[3].worst, 0);
    double shares = 0;
    for (const StepAnalysis& s : analysis.steps) shares += s.share;
    EXPECT_NEAR(shares, 1, 1e-12);
    EXPECT_NEAR(analysis.steps[1].share, 0.5 / (0.5 + 0.3 + 0.001 + 99e-6), 1e-12);
}

TEST(Analysis, TotalsByKindOfWorkAddUp) {
    const RunReport report = run_with(2, 1, 1, 1);
    const Analysis analysis = analyse(report, std::nullopt);
    double predicted = 0, measured = 0;
    int steps = 0;
    for (const WorkTotal& total : analysis.totals) {
        predicted += total.seconds.predicted;
        measured += total.seconds.measured;
        steps += total.steps;
    }
    EXPECT_NEAR(predicted, report.predicted.epoch_seconds, 1e-12);
    EXPECT_NEAR(measured, report.measured.epoch_seconds, 1e-12);
    EXPECT_EQ(steps, 7);
    EXPECT_EQ(analysis.totals.front().work, Work::communication);
    EXPECT_EQ(analysis.totals.front().bytes, 4 * large);
    EXPECT_EQ(analysis.waiting_seconds, 0);
}

TEST(Analysis, AProductThatExchangesIsNeitherCommunicationNorSpmm) {
    const Analysis analysis = analyse(run_of({step("a", "spmm", 1, 1, large), step("b", "spmm", 1, 1)}), std::nullopt);
    EXPECT_EQ(analysis.steps[0].work, Work::spmm_exchange);
    EXPECT_EQ(analysis.steps[1].work, Work::spmm);
}

TEST(Analysis, NothingPredictedHasNoRatio) {
    const Analysis analysis = analyse(run_of({step("a", "map", 0, 1)}), std::nullopt);
    EXPECT_EQ(analysis.steps[0].seconds.ratio(), std::nullopt);
    EXPECT_EQ(analysis.steps[0].worst, 1);
    EXPECT_THROW(analyse(run_of({}), std::nullopt), Error);
}

TEST(Analysis, StepsOfLargeGraphsFitATerminal) {
    RunReport report = run_of({step("backward.12.weight_grad", "weight_grad", 0.123, 1.23, 98'700'000'000)});
    const auto text = [&] { return analysis_text(analyse(report, std::nullopt), report, false); };
    report.steps.front().rows = 2'449'029;
    EXPECT_THAT(text(), HasSubstr(" 2449029x16 "));
    for (const std::string& line : split(text(), "\n")) EXPECT_LE(width_of(line), page_width) << line;
    report.steps.front().name = "backward.12.spmm.reduce_scatter";
    report.steps.front().rows = 111'059'956;
    EXPECT_THAT(text(), Not(HasSubstr("shape"))) << "there is no room for it";
    for (const std::string& line : split(text(), "\n")) EXPECT_LE(width_of(line), page_width) << line;
}

TEST(AnalysisHint, PredictionsThatHold) {
    EXPECT_EQ(cause(run_with(1, 1, 1, 1)), "none");
    EXPECT_EQ(cause(run_with(1.05, 1.02, 0.95, 1.1)), "none");
    // The sum is right, its parts are not.
    EXPECT_NE(cause(run_with(1.5, 0.5, 0.7, 1)), "none");
}

TEST(AnalysisHint, TimeInNoStepIsSaid) {
    RunReport report = run_with(1, 1, 1, 1);
    const double steps = report.measured.epoch_seconds;
    report.measured.epoch_seconds = 3 * steps;
    const Analysis analysis = analyse(report, std::nullopt);
    EXPECT_NEAR(analysis.outside_seconds, 2 * steps, 1e-12);
    EXPECT_EQ(analysis.hint.cause, "outside");
    EXPECT_THAT(analysis_text(analysis, report, false), ::testing::ContainsRegex("in no step +- +- +- +2.02 s"));
    EXPECT_THAT(analysis_text(analyse(run_with(1, 1, 1, 1), std::nullopt), report, false),
                ::testing::Not(::testing::HasSubstr("in no step")));
}

TEST(AnalysisHint, OneKindOfWorkIsOff) {
    EXPECT_EQ(cause(run_with(2.5, 1, 1, 1)), "bandwidth");
    EXPECT_EQ(cause(run_with(0.4, 1, 1, 1)), "bandwidth");
    EXPECT_EQ(cause(run_with(1, 3, 1, 1)), "spmm_rate");
    EXPECT_EQ(cause(run_with(1, 1, 3, 1)), "gemm_rate");
    EXPECT_EQ(cause(run_with(1, 1, 1, 5)), "memory_bandwidth");
    const std::string text = analyse(run_with(2.5, 1, 1, 1), std::nullopt).hint.text;
    EXPECT_THAT(text, HasSubstr("2.50x the time predicted"));
    EXPECT_THAT(text, HasSubstr("gnnplan calibrate"));
    EXPECT_THAT(analyse(run_with(1, 1, 3, 1), std::nullopt).hint.text, HasSubstr("3 threads a rank"));
}

TEST(AnalysisHint, ExchangesThatAreOffUnevenly) {
    RunReport report = run_with(1, 1, 1, 1);
    report.steps[4].measured_seconds += 0.6;
    report.measured.epoch_seconds += 0.6;
    report.steps[1].predicted_seconds = 0.05;
    report.steps[1].measured_seconds = 0.025;
    report.predicted.epoch_seconds -= 0.05;
    EXPECT_EQ(cause(report), "bandwidth");  // most of the time by one factor
    report.steps[1].predicted_seconds = 0.3;
    report.predicted.epoch_seconds += 0.25;
    EXPECT_EQ(cause(report), "exchange");
}

TEST(AnalysisHint, SmallMessagesThatAreLate) {
    RunReport report = run_with(1, 1, 1, 1);
    for (int i = 0; i < 4; ++i) report.steps.push_back(step("all_reduce", "all_reduce", 0.001, 0.1, 4096));
    report.predicted.epoch_seconds += 0.004;
    report.measured.epoch_seconds += 0.4;
    EXPECT_EQ(cause(report), "latency");
    // The same time, which others spend at work meanwhile: the steps add up to more than the epoch.
    report.measured.epoch_seconds -= 0.4;
    const Hint hint = analyse(report, std::nullopt).hint;
    EXPECT_EQ(hint.cause, "waiting");
    EXPECT_THAT(hint.text, HasSubstr("all_reduce"));
}

TEST(AnalysisHint, EverythingOffByOneFactorIsAnotherMachine) {
    EXPECT_EQ(cause(run_with(2, 2.1, 1.9, 2.2)), "machine");
    EXPECT_EQ(cause(run_with(0.5, 0.45, 0.5, 0.55)), "machine");
    EXPECT_EQ(cause(run_with(4, 1, 4, 0.25)), "spread");
}

TEST(AnalysisHint, DropoutIsNoMemoryTraffic) {
    RunReport report = run_with(1, 1, 1, 1);
    report.steps.push_back(step("dropout.0", "map", 0.1, 0.5));
    report.steps.back().origin = {Pass::forward, 1, OpKind::dropout};
    report.predicted.epoch_seconds += 0.1;
    report.measured.epoch_seconds += 0.5;
    const Hint hint = analyse(report, std::nullopt).hint;
    EXPECT_EQ(hint.cause, "dropout_rate");
    EXPECT_THAT(hint.text, HasSubstr("dropout.0"));
    EXPECT_THAT(hint.text, HasSubstr("3 threads a rank"));
    report.steps[3].measured_seconds += 1;  // the activation errs by more
    report.measured.epoch_seconds += 1;
    EXPECT_EQ(cause(report), "memory_bandwidth");
    EXPECT_THAT(analyse(report, std::nullopt).hint.text, HasSubstr("forward.1.activate"));
}

TEST(AnalysisHint, MoreThreadsThanProcessingUnits) {
    RunReport report = run_with(2.5, 1, 1, 1);
    report.placement = "threads run on processing units 0 | 1";
    EXPECT_EQ(cause(report), "bandwidth");
    report.oversubscribed = true;
    const Hint hint = analyse(report, std::nullopt).hint;
    EXPECT_EQ(hint.cause, "oversubscribed");
    EXPECT_THAT(hint.text, HasSubstr("2 x 3"));
    // It makes nothing faster, and what was predicted all the same needs no reason.
    RunReport faster = run_with(0.4, 1, 1, 1), held = run_with(1, 1, 1, 1);
    faster.oversubscribed = held.oversubscribed = true;
    EXPECT_EQ(cause(faster), "bandwidth");
    EXPECT_THAT(analyse(faster, std::nullopt).hint.text, HasSubstr("fewer processing units"));
    EXPECT_EQ(cause(held), "none");
}

TEST(AnalysisHint, ActivationsCostedWithADropoutThatTheRunDoesNotHave) {
    RunReport report = run_with(1, 1, 2, 0.3);
    const auto text = [&](bool measured) { return analyse(report, ProfileOrigin{"here", measured}).hint.text; };
    EXPECT_THAT(text(true), Not(HasSubstr("dropout"))) << "nobody knows";
    report.command_line = "gnnrun plan.json --data g --input-dropout 0.5";
    EXPECT_THAT(text(true), HasSubstr("dropout"));
    EXPECT_THAT(text(false), Not(HasSubstr("dropout"))) << "a preset has no time for it";
    report.command_line += " --dropout 0.5";
    EXPECT_THAT(text(true), Not(HasSubstr("dropout")));
    // The run's settings, wherever they were from.
    report.settings.emplace();
    EXPECT_THAT(text(true), HasSubstr("dropout"));
    report.settings->dropout = 0.5;
    report.command_line = "gnnrun plan.json --data g";
    EXPECT_THAT(text(true), Not(HasSubstr("dropout")));
}

TEST(AnalysisHint, CountsBeforeTimes) {
    RunReport report = run_with(3, 1, 1, 1);
    report.steps[1].counted_bytes += 4;
    EXPECT_EQ(cause(report), "bytes");
}

TEST(AnalysisHint, SaysThatTheMachineWasNotMeasured) {
    const RunReport off = run_with(3, 1, 1, 1);
    EXPECT_THAT(analyse(off, ProfileOrigin{"summit", false}).hint.text, HasSubstr("summit, is a preset"));
    EXPECT_THAT(analyse(off, ProfileOrigin{"here", true}).hint.text, Not(HasSubstr("preset")));
    EXPECT_THAT(analyse(run_with(1, 1, 1, 1), ProfileOrigin{"summit", false}).hint.text, Not(HasSubstr("preset")));
}

}  // namespace
}  // namespace gnnplan::tools
