#include "planner/calibrate/fit.hpp"
#include "planner/cost/rates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace gnnplan::calibrate {
namespace {

constexpr double giga = 1e9;
constexpr double ns = 1e-9;

Machine base() {
    Machine machine;
    machine.name = "base";
    machine.memory_per_rank = 1 << 30;
    machine.intra_node = {1e-6, 1 * giga};
    machine.inter_node = {1e-5, 0.5 * giga};
    machine.network_cards = NetworkCards{1, 0.5 * giga};
    machine.spmm = {{64, 1 * giga}};
    machine.gemm_flops_per_second = 1 * giga;
    machine.memory_bytes_per_second = 1 * giga;
    machine.step_seconds = 1e-6;
    return machine;
}

// Nanoseconds of a nonzero: log-linear in the working set, proportional to the width.
double gather(std::int64_t width, std::int64_t bytes) {
    return static_cast<double>(width) / 64 * (1 + std::log2(static_cast<double>(bytes) / 262144)) * ns;
}

constexpr double row = 40 * ns;

std::vector<Sample> spmm_samples() {
    std::vector<Sample> samples;
    for (const std::int64_t width : {32, 64, 128}) {
        for (std::int64_t bytes = 1 << 18; bytes <= 1 << 26; bytes *= 4) {
            for (const std::int64_t degree : {64, 8}) {
                const std::int64_t nonzeros = 1 << 20;
                const std::int64_t rows = nonzeros / degree;
                const double seconds =
                    static_cast<double>(nonzeros) * gather(width, bytes) + static_cast<double>(rows) * row;
                // An outlier, which a median leaves out.
                samples.push_back(
                    {"spmm", {width, bytes, nonzeros, nonzeros / degree}, {seconds, 5 * seconds, seconds}});
            }
        }
    }
    return samples;
}

std::vector<Sample> link_samples(const std::string& what, const Link& link) {
    std::vector<Sample> samples;
    for (std::int64_t bytes = 64; bytes <= 1 << 24; bytes *= 4) {
        const double seconds = message_seconds(link, static_cast<double>(bytes));
        samples.push_back({what + ".hot", {bytes, 1}, {0.95 * seconds}});
        samples.push_back({what + ".cold", {bytes, 1}, {1.05 * seconds}});
    }
    return samples;
}

double gemm_row(std::int64_t inner, std::int64_t columns) {
    const auto k = static_cast<double>(inner), n = static_cast<double>(columns);
    return (1 + 0.2 * k + 0.1 * n + 0.05 * k * n) * ns;
}

std::vector<Sample> gemm_samples() {
    std::vector<Sample> samples;
    for (const std::int64_t inner : {16, 64, 256}) {
        for (const std::int64_t columns : {16, 64, 256}) {
            // The time of a row is bilinear, so that a line left out is predicted exactly.
            samples.push_back({"gemm.weight_gradient", {10'000, inner, columns}, {1e4 * gemm_row(inner, columns)}});
        }
    }
    return samples;
}

TEST(FitLoading, RowsAreWhatDealingDoesNotTake) {
    std::vector<Sample> samples{{"load.parse", {100}, {12 * ns, 10 * ns, 50 * ns}},
                                {"load.deal", {100}, {500 * ns}},
                                {"load.rows", {100}, {800 * ns}},
                                {"load.cut", {110}, {220 * ns}}};
    const auto loading = fit_machine(base(), samples).calibration.value().loading;
    ASSERT_TRUE(loading.has_value());
    EXPECT_NEAR(loading->parse_seconds_per_edge, 0.12 * ns, 1e-3 * ns);
    EXPECT_NEAR(loading->deal_seconds_per_edge, 5 * ns, 1e-3 * ns);
    EXPECT_NEAR(loading->row_seconds_per_nonzero, 3 * ns, 1e-3 * ns);
    EXPECT_NEAR(loading->cut_seconds_per_nonzero, 2 * ns, 1e-3 * ns);
    samples.pop_back();
    EXPECT_FALSE(fit_machine(base(), samples).calibration.value().loading.has_value());
}

TEST(FitGather, ARowThatIsAddedToCostsMore) {
    std::vector<Sample> samples = spmm_samples();
    EXPECT_FALSE(fit_machine(base(), samples).calibration.value().gather.front().seconds_per_row_again.has_value());
    Sample adding = samples.front();
    const auto rows = static_cast<double>(adding.at[3]);
    adding.what = "spmm.add";
    for (double& seconds : adding.seconds) seconds += rows * 9 * ns;
    samples.push_back(adding);
    const Machine machine = fit_machine(base(), samples);
    EXPECT_NEAR(machine.calibration->gather.front().seconds_per_row_again.value(), 9 * ns, 1e-6 * ns);
    EXPECT_FALSE(row_again_seconds(*machine.calibration, 64).has_value()) << "not measured at every width";
}

TEST(FitGather, RowsWithoutNonzerosArePassed) {
    std::vector<Sample> samples{{"spmm", {64, 1 << 20, 2000, 1000}, {90'000 * ns}},
                                {"spmm.add", {64, 1 << 20, 2000, 1000}, {100'000 * ns}},
                                {"spmm.pass", {64, 1 << 20, 1000, 1000, 500}, {50'000 * ns + 500 * 30 * ns}}};
    const auto passing = [&] { return fit_machine(base(), samples).calibration.value().gather.front().passing; };
    EXPECT_FALSE(passing().has_value()) << "one sample does not tell what is passed from what is guessed wrong";
    samples.push_back({"spmm.pass", {64, 1 << 20, 60, 1000, 30}, {3000 * ns + 970 * 6 * ns + 30 * 24 * ns}});
    ASSERT_TRUE(passing().has_value());
    EXPECT_NEAR(passing()->seconds_per_row, 6 * ns, 1e-6 * ns);
    EXPECT_NEAR(passing()->seconds_per_change, 24 * ns, 1e-6 * ns);
    samples[2].seconds = {10'000 * ns};
    EXPECT_EQ(passing()->seconds_per_change, 0) << "never negative";
    samples[2].seconds = {50'000 * ns + 500 * 30 * ns};
    samples[3].seconds = {1000 * ns};
    EXPECT_EQ(passing()->seconds_per_row, 0);
    EXPECT_NO_THROW(validate(fit_machine(base(), samples)));
}

TEST(FitLoss, IsALineInTheLengthOfTheRow) {
    std::vector<Sample> samples;
    for (const std::int64_t columns : {8, 40, 200}) {
        samples.push_back({"loss", {100, columns}, {100 * (30 * ns + static_cast<double>(columns) * 0.5 * ns)}});
    }
    const Machine machine = fit_machine(base(), samples);
    const LossCost cost = machine.calibration.value().loss.value();
    EXPECT_NEAR(cost.seconds_per_row, 30 * ns, 1e-3 * ns);
    EXPECT_NEAR(cost.seconds_per_logit, 0.5 * ns, 1e-4 * ns);
    EXPECT_NEAR(predicted_seconds(machine, {"loss", {10, 100}, {}}), 800 * ns, 1e-2 * ns);
    samples.resize(1);
    EXPECT_FALSE(fit_machine(base(), samples).calibration.value().loss.has_value());
}

TEST(Fit, GatherCurveAndRowsComeApart) {
    const Machine machine = fit_machine(base(), spmm_samples());
    ASSERT_EQ(machine.calibration->gather.size(), 3U);
    for (const GatherCurve& curve : machine.calibration->gather) {
        EXPECT_NEAR(curve.seconds_per_row, row, 1e-6 * row);
        ASSERT_EQ(curve.costs.size(), 5U);
        for (const GatherCost& cost : curve.costs) {
            const double truth = gather(curve.width, cost.working_set_bytes);
            EXPECT_NEAR(cost.seconds_per_nonzero, truth, 1e-6 * truth);
        }
    }
    EXPECT_EQ(machine.spmm.size(), 3U);
    EXPECT_NO_THROW(validate(machine));
}

TEST(Fit, LinksFollowTheMessages) {
    std::vector<Sample> samples = link_samples("exchange", {2e-6, 8 * giga});
    for (Sample& s : link_samples("between", {5e-5, 0.125 * giga})) samples.push_back(std::move(s));
    for (Sample& s : link_samples("all_reduce", {3e-6, 2 * giga})) samples.push_back(std::move(s));
    const Machine machine = fit_machine(base(), samples);
    EXPECT_NEAR(machine.intra_node.bytes_per_second / (8 * giga), 1, 0.01);
    EXPECT_NEAR(machine.inter_node.bytes_per_second / (0.125 * giga), 1, 0.01);
    EXPECT_NEAR(machine.inter_node.latency_seconds / 5e-5, 1, 0.01);
    EXPECT_FALSE(machine.network_cards) << "a rank to a node has them for itself";
    ASSERT_TRUE(machine.calibration->all_reduce);
    EXPECT_NEAR(machine.calibration->all_reduce->bytes_per_second / (2 * giga), 1, 0.01);
    EXPECT_NO_THROW(validate(machine));
}

TEST(Fit, CardsCarryWhatAllRanksOfANodeSendAtOnce) {
    std::vector<Sample> samples = link_samples("between", {5e-5, 0.125 * giga});
    for (const char* name : {"cards.hot", "cards.cold"}) {
        samples.push_back({name, {1 << 10, 2, 2}, {3e-5}});
        samples.push_back({name, {1 << 20, 2, 2}, {2 * (1 << 20) / (0.15 * giga)}});
    }
    const Machine machine = fit_machine(base(), samples);
    ASSERT_TRUE(machine.network_cards);
    EXPECT_EQ(machine.network_cards->per_node, 1);
    EXPECT_NEAR(machine.network_cards->bytes_per_second / (0.15 * giga), 1, 1e-9);
    EXPECT_NEAR(machine.inter_node.bytes_per_second / (0.125 * giga), 1, 0.01) << "of a rank alone";
    EXPECT_NO_THROW(validate(machine));
}

TEST(Fit, GemmAndStreamsAreTables) {
    std::vector<Sample> samples = gemm_samples();
    samples.push_back({"stream.update", {1 << 20}, {1e-4}});
    samples.push_back({"stream.narrow", {3 << 20}, {2e-4}});
    samples.push_back({"stream.widen", {3 << 20}, {1e-4}});
    samples.push_back({"stream.activate", {1 << 24}, {2e-3}});
    samples.push_back({"stream.activate", {1 << 20}, {1e-5}});
    const Machine machine = fit_machine(base(), samples);
    EXPECT_NEAR(gemm_flops_per_second(machine, GemmKind::weight_gradient, 64, 256), 2 * 64 * 256 / gemm_row(64, 256),
                1);
    EXPECT_FALSE(machine.calibration->gemm_lanes) << "samples of older calibrations do not say";
    samples.front().at.push_back(16);
    EXPECT_EQ(fit_machine(base(), samples).calibration->gemm_lanes, 16);
    EXPECT_NEAR(elementwise_bytes_per_second(machine, ElementwiseKind::update, 1 << 20), (1 << 20) / 1e-4, 1);
    EXPECT_NEAR(elementwise_bytes_per_second(machine, ElementwiseKind::narrow, 3 << 20), (3 << 20) / 2e-4, 1);
    EXPECT_NEAR(elementwise_bytes_per_second(machine, ElementwiseKind::widen, 3 << 20), (3 << 20) / 1e-4, 1);
    EXPECT_NEAR(machine.memory_bytes_per_second, (1 << 24) / 2e-3, 1);
    EXPECT_NO_THROW(validate(machine));
}

// Samples of a machine whose truth is `cost`, at these ratios of messages to a product in portions.
std::vector<Sample> overlap_samples(const OverlapCost& cost, const std::vector<double>& ratios) {
    constexpr double whole = 4e-3;
    constexpr std::int64_t looks = 134;
    std::vector<Sample> samples;
    for (const double ratio : ratios) {
        const double portions = whole * cost.portions;
        const double exchange = ratio * portions;
        const double both = std::max(portions, exchange) + cost.exposed * std::min(portions, exchange) +
                            static_cast<double>(looks) * cost.look_seconds;
        for (const auto& [what, seconds] : {std::pair("whole", whole), std::pair("portions", portions),
                                            std::pair("exchange", exchange), std::pair("both", both)}) {
            samples.push_back({std::string("overlap.") + what, {1 << 20, 1 << 20, looks}, {seconds}});
        }
    }
    return samples;
}

TEST(Fit, OverlapIsFoundAtTwoRatiosAndAtFour) {
    for (const OverlapCost truth : {OverlapCost{1, 0, 1}, OverlapCost{1.3, 2e-7, 0.7}, OverlapCost{1.1, 0, 0.4},
                                    OverlapCost{1, 3e-6, 0}, OverlapCost{1.05, 1e-6, 1}}) {
        for (const std::vector<double>& ratios : {std::vector<double>{0.1, 1}, {0.1, 0.5, 1, 2}}) {
            const OverlapCost found =
                fit_machine(base(), overlap_samples(truth, ratios)).calibration->overlapping.value();
            EXPECT_NEAR(found.portions, truth.portions, 1e-9);
            EXPECT_NEAR(found.exposed, truth.exposed, 1e-9);
            EXPECT_NEAR(found.look_seconds, truth.look_seconds, 1e-14);
        }
    }
}

// Samples of ranks that wait for each other as `truth` says, after work of 0.1, 1 and 10 ms; a sum alone takes 5 us.
std::vector<Sample> waiting_samples(const WaitingCost& truth) {
    constexpr double sum = 5e-6;
    std::vector<Sample> samples;
    for (const double work : {1e-4, 1e-3, 1e-2}) {
        samples.push_back({"waiting.work", {1}, {work}});
        samples.push_back({"waiting.sum", {1}, {sum}});
        samples.push_back({"waiting.both", {1}, {sum + work + truth.seconds + truth.share * work}});
    }
    return samples;
}

TEST(Fit, WaitingHasAPartByTheStepAndAPartByItsWork) {
    for (const WaitingCost truth :
         {WaitingCost{}, WaitingCost{2e-5, 0}, WaitingCost{0, 0.05}, WaitingCost{1e-5, 0.02}}) {
        const WaitingCost found = fit_machine(base(), waiting_samples(truth)).calibration->waiting.value();
        EXPECT_NEAR(found.seconds, truth.seconds, 1e-12);
        EXPECT_NEAR(found.share, truth.share, 1e-9);
    }
    std::vector<Sample> faster = waiting_samples({});
    for (Sample& sample : faster) sample.seconds.front() *= sample.what == "waiting.both" ? 0.9 : 1;
    EXPECT_EQ(fit_machine(base(), faster).calibration->waiting, WaitingCost{}) << "nobody gains by waiting";
    EXPECT_FALSE(fit_machine(base(), std::vector<Sample>{{"step", {30}, {2e-7}}}).calibration->waiting);
}

TEST(Fit, LentPanelsAreMeasuredWhereRanksLend) {
    const std::vector<Sample> samples{{"lent_panel", {3}, {4e-6}}, {"step", {30}, {2e-7}}};
    EXPECT_EQ(fit_machine(base(), samples).calibration->lent_panel_seconds, 4e-6);
    EXPECT_FALSE(fit_machine(base(), std::span(samples).last(1)).calibration->lent_panel_seconds);
}

// Each step of each rank takes a fifth longer one time in ten, whose epochs nobody measured: the calibration sees the
// median of the work alone.
TEST(Fit, WaitingPredictsRanksThatAreDisturbedInTurns) {
    constexpr int steps = 2000, ranks = 4;
    constexpr double sum = 5e-6;
    std::uint32_t state = 1;
    const auto disturbed = [&] {
        state = state * 1664525U + 1013904223U;  // Numerical Recipes
        return state >> 24U < 26U;
    };
    const auto seconds_of = [&](double work) {
        double seconds = 0;
        for (int step = 0; step < steps; ++step) {
            bool any = false;
            for (int rank = 0; rank < ranks; ++rank) any = disturbed() || any;
            seconds += (any ? 1.2 : 1) * work + sum;
        }
        return seconds / steps;
    };
    std::vector<Sample> samples;
    for (const double work : {1e-4, 1e-3, 1e-2}) {
        samples.push_back({"waiting.work", {1}, {work}});
        samples.push_back({"waiting.sum", {1}, {sum}});
        samples.push_back({"waiting.both", {1}, {seconds_of(work)}});
    }
    const WaitingCost found = fit_machine(base(), samples).calibration->waiting.value();
    for (const double work : {3e-4, 4e-3}) {
        const double predicted = work + sum + found.seconds + found.share * work;
        EXPECT_NEAR(predicted / seconds_of(work), 1, 0.01) << work;
        EXPECT_GT(seconds_of(work) / (work + sum), 1.05) << "without, it is predicted too short";
    }
}

// Nobody gains by looking, and nothing is hidden twice, whatever a noisy machine measured.
TEST(Fit, OverlapKeepsWithinItsBounds) {
    const auto overlap = [](double slower) {
        std::vector<Sample> samples = overlap_samples({1, 0, 0.5}, {0.1, 1});
        for (Sample& sample : samples) {
            if (sample.what == "overlap.both") sample.seconds.front() *= slower;
        }
        return fit_machine(base(), samples).calibration->overlapping.value();
    };
    EXPECT_EQ(overlap(0.6).exposed, 0);
    EXPECT_EQ(overlap(0.6).look_seconds, 0);
    EXPECT_EQ(overlap(2.5).exposed, 1);
    EXPECT_GT(overlap(2.5).look_seconds, 0);
    EXPECT_FALSE(fit_machine(base(), std::vector<Sample>{{"step", {30}, {2e-7}}}).calibration->overlapping);
    const std::vector<Sample> one = overlap_samples({1.2, 0, 0.5}, {1});
    EXPECT_NEAR(fit_machine(base(), one).calibration->overlapping->exposed, 0.5, 1e-9) << "a single ratio";
}

TEST(Fit, WhatWasNotMeasuredStays) {
    const Machine machine = fit_machine(base(), std::vector<Sample>{{"step", {30}, {2e-7, 4e-7}}});
    EXPECT_DOUBLE_EQ(machine.step_seconds, 3e-7);
    EXPECT_EQ(machine.intra_node.bytes_per_second, base().intra_node.bytes_per_second);
    EXPECT_EQ(machine.spmm.size(), 1U);
    EXPECT_EQ(machine.gemm_flops_per_second, base().gemm_flops_per_second);
    EXPECT_FALSE(machine.calibration->all_reduce);
    EXPECT_NO_THROW(validate(machine));
}

TEST(CrossValidation, IsExactWhereTheModelIs) {
    std::vector<Sample> samples = spmm_samples();
    for (Sample& s : gemm_samples()) samples.push_back(std::move(s));
    const std::vector<double> errors = cross_validate(base(), samples);
    // SpMM: 3 widths, 3 of 5 windows, 2 degrees; GEMM: the middle of each side, in 3 shapes.
    ASSERT_EQ(errors.size(), 3U * 3 * 2 + 2 * 3);
    EXPECT_LT(*std::ranges::max_element(errors), 1e-6);
}

TEST(CrossValidation, SeesWhatTheFitCannotKnow) {
    std::vector<Sample> samples = gemm_samples();
    for (Sample& sample : samples) {
        if (sample.at[1] == 64) sample.seconds = {2 * sample.seconds[0]};
    }
    const Machine machine = fit_with_errors(base(), samples);
    // Columns are as before; inner 64, left out, takes twice as long as the others let expect.
    EXPECT_NEAR(machine.calibration->error_p90, 0.5, 1e-6);
    for (const Sample& sample : samples) {
        EXPECT_NEAR(predicted_seconds(machine, sample), sample.seconds[0], 1e-9 * sample.seconds[0]);
    }
}

TEST(CrossValidation, NothingBetweenIsNoError) {
    EXPECT_TRUE(cross_validate(base(), std::vector<Sample>{{"stream.copy", {64}, {1}}, {"read", {64}, {1}}}).empty());
    EXPECT_EQ(fit_with_errors(base(), {}).calibration->error_median, 0);
}

// The time of program.attend for so many heads and wide columns besides a sum of all that it gathers.
constexpr double waits = 0.75;
double more_for_nonzero(std::int64_t heads, std::int64_t width) {
    return (4 + 0.5 * static_cast<double>(heads) + 0.01 * static_cast<double>(width)) * ns;
}
double more_for_row(std::int64_t width) { return (60 + static_cast<double>(width)) * ns; }

// In cache and out of it, where rows are long and, in cache, where they are short; where weights are dropped, a nonzero
// takes twice as much more, in cache and in long rows.
std::vector<Sample> attention_samples() {
    std::vector<Sample> samples = spmm_samples();
    const std::int64_t near = 1 << 20, far = 1 << 26, nonzeros = 1 << 20;
    const auto add = [&](std::int64_t heads, std::int64_t width, std::int64_t bytes, std::int64_t degree, bool drops) {
        const std::int64_t gathered = width + heads;
        const double away = gather(gathered, bytes) - gather(gathered, near);
        const double nonzero =
            gather(gathered, bytes) + (drops ? 2 : 1) * more_for_nonzero(heads, width) + waits * away;
        const double rows = static_cast<double>(nonzeros) / static_cast<double>(degree);
        samples.push_back({drops ? "program.attend.dropout" : "program.attend",
                           {width, heads, gathered, bytes, nonzeros, nonzeros / degree},
                           {static_cast<double>(nonzeros) * nonzero + rows * (row + more_for_row(width))}});
    };
    for (const std::int64_t heads : {1, 8}) {
        for (const std::int64_t width : {32, 64, 120}) {
            for (const bool drops : {false, true}) add(heads, width, near, 64, drops);
            add(heads, width, far, 64, false);
            add(heads, width, near, 8, false);
        }
    }
    return samples;
}

TEST(Fit, ProgramsAreWhatTheyTakeBesidesSums) {
    const Machine machine = fit_machine(base(), attention_samples());
    const Calibration& fitted = *machine.calibration;
    ASSERT_EQ(fitted.programs.size(), 4U);
    EXPECT_EQ(fitted.programs[1].heads, 8);
    EXPECT_NO_THROW(validate(machine));
    const auto nonzero = [&](std::int64_t heads, std::int64_t width, bool drops = false) {
        return program_seconds(fitted, Program::attend, heads, width, drops).nonzero / ns;
    };
    EXPECT_NEAR(nonzero(8, 32, true), 2 * (4 + 4 + 0.32), 0.1);
    EXPECT_NEAR(nonzero(1, 64), 4 + 0.5 + 0.64, 0.1);
    EXPECT_NEAR(nonzero(8, 32), 4 + 4 + 0.32, 0.1);
    EXPECT_NEAR(nonzero(4, 64), 4 + 2 + 0.64, 0.1) << "between";
    EXPECT_NEAR(nonzero(16, 64), 4 + 8 + 0.64, 0.2) << "beyond";
    for (const bool drops : {false, true}) {
        const ProgramSeconds found = program_seconds(fitted, Program::attend, 8, 64, drops);
        EXPECT_NEAR(found.row / ns, 60 + 64, 0.5) << "as without dropout";
        EXPECT_NEAR(found.waiting, waits, 0.01);
        EXPECT_EQ(found.working_set_bytes, 1 << 20);
    }
    EXPECT_EQ(program_seconds(fitted, Program::max, 0, 64).nonzero, 0) << "not measured";
}

// A program may take less than a sum of as many columns, and some of its samples may be missing.
TEST(Fit, ProgramsMayBeFasterThanSums) {
    std::vector<Sample> samples = spmm_samples();
    const std::int64_t bytes = 1 << 20, nonzeros = 1 << 20, rows = nonzeros / 64;
    for (const std::int64_t width : {16, 64}) {
        const double sum = static_cast<double>(nonzeros) * gather(2 * width, bytes) + static_cast<double>(rows) * row;
        samples.push_back({"program.max_back", {width, 0, 2 * width, bytes, nonzeros, rows}, {0.8 * sum}});
    }
    const Machine machine = fit_machine(base(), samples);
    ASSERT_EQ(machine.calibration->programs.size(), 1U);
    EXPECT_NO_THROW(validate(machine));
    const ProgramSeconds found = program_seconds(*machine.calibration, Program::max_back, 0, 64);
    EXPECT_NEAR(found.nonzero, -0.2 * (gather(128, bytes) + row / 64), 0.01 * ns);
    EXPECT_EQ(found.row, 0);
    EXPECT_EQ(found.waiting, 0);
}

}  // namespace
}  // namespace gnnplan::calibrate
