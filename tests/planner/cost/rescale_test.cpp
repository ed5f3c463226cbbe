// Machines of round rates, in another state.
#include "planner/cost/rescale.hpp"
#include "planner/cost/rates.hpp"
#include "tests/support/test_machine.hpp"

#include <gtest/gtest.h>

namespace gnnplan::cost {
namespace {

constexpr std::int64_t mib = 1 << 20;

ProbeFigures figures(double gemm, double copy, double near, double far, double exchange) {
    return {256 * mib, gemm * 1e11, copy * 1e10, near * 1e10, far * 1e9, exchange * 1e9, {}};
}

Machine calibrated_machine() {
    Machine machine = test::round_machine(2);
    machine.step_seconds = 1e-6;
    machine.intra_node.segments = {{0, 1e-6, 1e9}, {1024, 2e-6, 2e9}};
    Calibration& calibration = machine.calibration.emplace();
    calibration.gather = {
        {128, {{mib, 1e-9}, {8 * mib, 2e-9}, {256 * mib, 4e-9}}, 1e-8, 2e-8, PassingCost{1e-9, 2e-9}}};
    calibration.gemm = {{GemmKind::forward, 8, 8, 1e10}, {GemmKind::forward, 512, 512, 1e11}};
    calibration.streams = {{ElementwiseKind::copy, mib, 1e10}, {ElementwiseKind::copy, 64 * mib, 1e10}};
    calibration.programs = {{Program::max, 0, false, {1e-9, 1e-11}, {1e-8, 1e-10}, 256 * mib, 0.5}};
    calibration.loss = LossCost{1e-8, 1e-9};
    calibration.loading = LoadingCost{1e-8, 1e-8, 1e-8, 1e-8};
    calibration.all_reduce = Link{1e-6, 1e9};
    calibration.overlapping = OverlapCost{1.1, 1e-6, 0.2};
    calibration.probe =
        ProbeReference{"A CPU", 2, figures(1, 1, 1, 1, 1), figures(1, 1, 1, 1, 1), figures(1, 1, 1, 1, 1)};
    return machine;
}

TEST(Rescaled, ByNothingIsTheSame) {
    const Machine before = calibrated_machine();
    const Machine after = rescaled(before, before.calibration->probe->middle);
    EXPECT_EQ(after.step_seconds, before.step_seconds);
    EXPECT_EQ(after.calibration->gather[0].costs[2].seconds_per_nonzero, 4e-9);
    EXPECT_EQ(after.calibration->gemm[1].flops_per_second, 1e11);
    EXPECT_EQ(*after.calibration->loading, *before.calibration->loading);
    EXPECT_EQ(after.probe, before.calibration->probe->middle);
}

TEST(Rescaled, GatheringFollowsTheDistance) {
    Machine machine = calibrated_machine();
    // In the middle between the two, by the logarithm.
    machine.calibration->gather[0].costs.insert(machine.calibration->gather[0].costs.begin() + 2,
                                                {static_cast<std::int64_t>(8 * mib * 5.656854249492380), 3e-9});
    const GatherCurve curve = rescaled(machine, figures(1, 1, 0.8, 0.5, 1)).calibration->gather[0];
    EXPECT_DOUBLE_EQ(curve.costs[0].seconds_per_nonzero, 1e-9 / 0.8) << "nearer than near";
    EXPECT_DOUBLE_EQ(curve.costs[1].seconds_per_nonzero, 2e-9 / 0.8);
    EXPECT_NEAR(curve.costs[2].seconds_per_nonzero, 3e-9 / 0.65, 1e-15);
    EXPECT_DOUBLE_EQ(curve.costs[3].seconds_per_nonzero, 4e-9 / 0.5);
    EXPECT_DOUBLE_EQ(curve.seconds_per_row, 1e-8 / 0.8);
    EXPECT_DOUBLE_EQ(*curve.seconds_per_row_again, 2e-8 / 0.8);
    EXPECT_DOUBLE_EQ(curve.passing->seconds_per_change, 2e-9 / 0.8);
}

// Halving the copies' rate: 8 x 8 reads 64 bytes for 128 flops, 6.4 of 12.8 ns, and becomes bound by its bytes at a
// fifth of their rate; 512 x 512 does not.
TEST(Rescaled, DenseProductsFollowTheirFigureUntilTheirBytesTakeLonger) {
    const Machine machine = calibrated_machine();
    const auto small = [](const Machine& of) { return of.calibration->gemm[0].flops_per_second; };
    const auto large = [](const Machine& of) { return of.calibration->gemm[1].flops_per_second; };
    const Machine slow_cores = rescaled(machine, figures(0.5, 1, 1, 1, 1));
    EXPECT_DOUBLE_EQ(small(slow_cores), 0.5e10);
    EXPECT_DOUBLE_EQ(large(slow_cores), 0.5e11);
    EXPECT_DOUBLE_EQ(slow_cores.gemm_flops_per_second, 0.5e11);
    const Machine slow_memory = rescaled(machine, figures(1, 0.2, 1, 1, 1));
    EXPECT_DOUBLE_EQ(small(slow_memory), 128 / (6.4e-9 / 0.2));
    EXPECT_DOUBLE_EQ(large(slow_memory), 1e11);
    EXPECT_DOUBLE_EQ((RateRatios{.gemm = 1, .copy = 4}.gemm_seconds(10, 9)), 5) << "half of it follows copies";
    Machine bound = machine;  // by its bytes when it was measured, too
    bound.calibration->gemm[0].flops_per_second = 128 / 8e-9;
    bound.calibration->probe->middle.copy_bytes_per_second = 64 / 10e-9;
    ProbeFigures faster = bound.calibration->probe->middle;
    faster.copy_bytes_per_second *= 2;
    EXPECT_DOUBLE_EQ(small(rescaled(bound, faster)), 128 / 4e-9);
}

TEST(Rescaled, TheRestFollowsItsKind) {
    const Machine changed = rescaled(calibrated_machine(), figures(0.5, 0.25, 1, 0.8, 0.1));
    EXPECT_DOUBLE_EQ(elementwise_bytes_per_second(changed, ElementwiseKind::copy, mib), 1e10) << "in caches";
    EXPECT_DOUBLE_EQ(elementwise_bytes_per_second(changed, ElementwiseKind::copy, 64 * mib), 0.25e10);
    EXPECT_DOUBLE_EQ(changed.memory_bytes_per_second, 0.25e10);
    EXPECT_DOUBLE_EQ(changed.step_seconds, 2e-6);
    EXPECT_DOUBLE_EQ(changed.spmm[0].flops_per_second, 0.8e9);
    const Calibration& calibration = *changed.calibration;
    EXPECT_DOUBLE_EQ(calibration.programs[0].nonzero.seconds_per_column, 1e-11 / 0.8);
    EXPECT_DOUBLE_EQ(calibration.programs[0].row.seconds, 1e-8 / 0.8);
    EXPECT_EQ(calibration.programs[0].waiting, 0.5) << "a share of what a sum waits";
    EXPECT_DOUBLE_EQ(calibration.loss->seconds_per_logit, 2e-9);
    EXPECT_DOUBLE_EQ(calibration.loading->cut_seconds_per_nonzero, 4e-8);
    EXPECT_DOUBLE_EQ(calibration.overlapping->look_seconds, 2e-6);
    EXPECT_EQ(calibration.overlapping->exposed, 0.2);
    EXPECT_DOUBLE_EQ(message_seconds(changed.intra_node, 4096), 10 * (2e-6 + 4096 / 2e9));
    EXPECT_DOUBLE_EQ(message_seconds(*calibration.all_reduce, 1000), 10 * (1e-6 + 1e-6));
    EXPECT_DOUBLE_EQ(message_seconds(changed.inter_node, 1000), 1e-4 + 1000 / 1e7) << "not measured";
}

TEST(Rescaled, MessagesWithinANodeFollowCopiesWhereNobodyMeasuredThem) {
    ProbeFigures now = figures(1, 0.5, 1, 1, 1);
    now.exchange_bytes_per_second.reset();
    EXPECT_DOUBLE_EQ(message_seconds(*rescaled(calibrated_machine(), now).calibration->all_reduce, 1000), 2 * 2e-6);
}

TEST(ImpliedFigures, AreWhatAProbeWouldMeasure) {
    const ProbeFigures preset = implied_figures(test::round_machine(), 256 * mib);
    EXPECT_DOUBLE_EQ(preset.gemm_flops_per_second, 1e11);
    EXPECT_DOUBLE_EQ(preset.copy_bytes_per_second, 1e10);
    EXPECT_DOUBLE_EQ(preset.far_bytes_per_second, 2e9) << "512 bytes for 256 operations, whatever the distance";
    EXPECT_DOUBLE_EQ(preset.near_bytes_per_second, 2e9);
    EXPECT_DOUBLE_EQ(*preset.exchange_bytes_per_second, mib / (1e-6 + mib / 1e9));
    EXPECT_DOUBLE_EQ(*preset.between_bytes_per_second, mib / (1e-4 + mib / 1e7));
    const ProbeFigures measured = implied_figures(calibrated_machine(), 256 * mib);
    EXPECT_NEAR(measured.near_bytes_per_second, 512 / (2e-9 + 1e-8 / 64), 1);
    EXPECT_NEAR(measured.far_bytes_per_second, 512 / (4e-9 + 1e-8 / 64), 1);
    // Rescaled to some figures, a machine implies these.
    Machine machine = calibrated_machine();
    machine.calibration->probe->middle = measured;
    ProbeFigures now = measured;
    now.near_bytes_per_second *= 0.7;
    now.copy_bytes_per_second *= 0.6;
    const ProbeFigures again = implied_figures(rescaled(machine, now), 256 * mib);
    EXPECT_NEAR(again.near_bytes_per_second / now.near_bytes_per_second, 1, 1e-9);
    EXPECT_NEAR(again.copy_bytes_per_second / now.copy_bytes_per_second, 1, 1e-9);
}

TEST(Rescaled, OnceMoreStartsFromTheLastState) {
    const Machine slow = rescaled(calibrated_machine(), figures(0.5, 0.5, 0.5, 0.5, 0.5));
    const Machine back = rescaled(slow, figures(1, 1, 1, 1, 1));
    EXPECT_DOUBLE_EQ(back.calibration->gather[0].costs[2].seconds_per_nonzero, 4e-9);
    EXPECT_DOUBLE_EQ(back.memory_bytes_per_second, 1e10);
    EXPECT_EQ(back.calibration->probe->middle, figures(1, 1, 1, 1, 1)) << "of the calibration, still";
    EXPECT_EQ(probed_state(test::round_machine()), nullptr);
}

}  // namespace
}  // namespace gnnplan::cost
