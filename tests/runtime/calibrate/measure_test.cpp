// Times are the clock's, and the clock is ours: no test waits or depends on the machine's speed.
#include "runtime/calibrate/calibrate.hpp"
#include "runtime/calibrate/random_matrix.hpp"
#include "runtime/comm/self.hpp"
#include "runtime/comm/threads.hpp"
#include "tests/support/emulated_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace gnnplan::calibrate {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;

// Time passes only where a test says so.
class ManualClock final : public measure::Clock {
public:
    double now() override { return now_; }
    void pass(double seconds) { now_ += seconds; }

private:
    double now_ = 0;
};

TEST(Timing, IsTheMedianOverBatches) {
    comm::SelfCommunicator self;
    ManualClock clock;
    int runs = 0;
    // Every fourth run takes ten times as long.
    const auto work = [&] { clock.pass(++runs % 4 == 0 ? 1.0 : 0.1); };
    const auto device = kernels::host_device(kernels::reference_table());
    const Setting setting{self, clock, *device, {2.0, 3}};
    const std::vector<double> seconds = seconds_together(setting, work);
    EXPECT_THAT(seconds, ElementsAre(DoubleNear(0.1, 1e-9), DoubleNear(0.1, 1e-9), DoubleNear(0.1, 1e-9), ::testing::_,
                                     DoubleNear(1, 1e-9)));
    EXPECT_NEAR(measure::median(seconds), 0.1, 1e-9);
}

TEST(Timing, KeepsToItsBudgetButForTheLeastRuns) {
    comm::SelfCommunicator self;
    ManualClock clock;
    const auto device = kernels::host_device(kernels::reference_table());
    const Setting setting{self, clock, *device, {1.0, 5}};
    seconds_together(setting, [&] { clock.pass(0.01); });
    EXPECT_NEAR(clock.now(), 1.0, 0.1);
    const double start = clock.now();
    seconds_together(setting, [&] { clock.pass(3); });
    EXPECT_NEAR(clock.now() - start, 3 * (2 + 5), 1e-9);  // a warm-up, a rough one
}

TEST(Timing, LongRunsAreFewWhereTimeIsLimited) {
    comm::SelfCommunicator self;
    ManualClock clock;
    const auto device = kernels::host_device(kernels::reference_table());
    const Setting setting{self, clock, *device, {0.01, 15, 0.25}};
    const auto work = [&] { clock.pass(0.1); };
    seconds_together(setting, work);
    EXPECT_NEAR(clock.now(), 0.1 * (2 + 3), 1e-9);
    const double start = clock.now();
    seconds_of_collective(setting, work);
    EXPECT_NEAR(clock.now() - start, 0.1 * (1 + 2), 1e-9);
}

TEST(Timing, ShortRunsAreTimedInBatches) {
    comm::SelfCommunicator self;
    ManualClock clock;
    const auto device = kernels::host_device(kernels::reference_table());
    const Setting setting{self, clock, *device, {1e-3, 5}};
    EXPECT_NEAR(seconds_together(setting, [&] { clock.pass(1e-8); })[0], 1e-8, 1e-12);
    EXPECT_NEAR(seconds_of_collective(setting, [&] { clock.pass(1e-8); })[0], 1e-8, 1e-12);
}

TEST(Timing, IsThatOfTheSlowestRank) {
    comm::run_ranks(3, [](comm::Communicator& comm) {
        ManualClock clock;
        const auto device = kernels::host_device(kernels::reference_table());
        const Setting setting{comm, clock, *device, {0.1, 5}};
        const auto work = [&] { clock.pass(comm.rank() == 1 ? 0.03 : 0.01); };
        EXPECT_THAT(seconds_of_collective(setting, work), Each(DoubleNear(0.03, 1e-9)));
        EXPECT_THAT(seconds_together(setting, work), Each(DoubleNear(0.03, 1e-9)));
    });
}

TEST(RandomMatrix, IsUniformAndSorted) {
    const auto device = kernels::host_device(kernels::reference_table());
    const RandomMatrix matrix(*device, {1000, 10, 8});
    const kernels::Csr view = matrix.view();
    EXPECT_NEAR(static_cast<double>(view.nonzeros()), 8000, 4 * 8 * std::sqrt(1000.0)) << "four deviations";
    std::set<std::int64_t> lengths;
    for (std::int64_t i = 0; i < view.rows; ++i) lengths.insert(view.row_start[i + 1] - view.row_start[i]);
    EXPECT_GT(lengths.size(), 20U);
    EXPECT_EQ(*lengths.begin(), 1) << "a row without nonzeros is not added to, and would cost nothing";
    std::map<std::int32_t, int> seen;
    for (std::int64_t i = 0; i < view.rows; ++i) {
        EXPECT_TRUE(std::is_sorted(view.column + view.row_start[i], view.column + view.row_start[i + 1]));
    }
    for (std::int64_t k = 0; k < view.nonzeros(); ++k) ++seen[view.column[k]];
    ASSERT_EQ(seen.size(), 10U);
    EXPECT_EQ(seen.rbegin()->first, 9);
    for (const auto& [column, count] : seen) EXPECT_NEAR(count, 800, 150) << column;
}

TEST(RandomMatrix, HasRowsWithoutNonzerosWhereAsked) {
    const auto device = kernels::host_device(kernels::reference_table());
    const RandomMatrix matrix(*device, {8000, 10, 2, 4});
    const kernels::Csr view = matrix.view();
    std::int64_t some = 0;
    for (std::int64_t i = 0; i < view.rows; ++i) some += view.row_start[i + 1] > view.row_start[i] ? 1 : 0;
    EXPECT_EQ(matrix.rows_with_nonzeros(), some);
    EXPECT_NEAR(static_cast<double>(some), 2000, 4 * std::sqrt(8000 * 0.25 * 0.75)) << "four deviations";
    EXPECT_EQ(RandomRows(8000, 10, 2).rows_with_nonzeros, 8000);
}

Scope tiny_scope() {
    Scope scope = quick_scope(1 << 16);
    scope.effort = {0, 1};
    scope.limit = 0;
    return scope;
}

std::map<std::string, int> count_by_name(const std::vector<Sample>& samples) {
    std::map<std::string, int> counts;
    for (const Sample& sample : samples) ++counts[sample.what];
    return counts;
}

TEST(Calibration, MeasuresEverythingOnEveryRank) {
    comm::run_ranks(2, [](comm::Communicator& comm) {
        measure::SteadyClock clock;
        const auto device = kernels::host_device(kernels::cpu_table());
        const Setting setting{comm, clock, *device, {0, 1}};
        const Nodes nodes = find_nodes(comm, 0);
        std::size_t announced = 0;
        const auto [samples, points, left_out, pilots] =
            measure_all(setting, nodes, tiny_scope(), [&](const std::string&, std::size_t done, std::size_t total) {
                EXPECT_EQ(done, announced++);
                EXPECT_LT(done, total);
            });
        std::map<std::string, int> counts = count_by_name(samples);
        for (const char* what : {"gemm.forward", "gemm.input_gradient", "gemm.weight_gradient"}) {
            EXPECT_EQ(counts[what], 16) << what;
        }
        EXPECT_EQ(counts["spmm"], 8 * (1 + 3 + 1));
        EXPECT_EQ(counts["program.attend"], 3 * (3 + 2)) << "one working set; rows of two lengths";
        EXPECT_EQ(counts["program.attend_back.dropout"], 3 * 3);
        EXPECT_EQ(counts["program.max_back"], 3 + 2);
        EXPECT_EQ(counts["program.dot"], 3 + 2);
        EXPECT_EQ(counts["spmm.add"], 8);
        EXPECT_EQ(counts["spmm.pass"], 2 * 8);
        EXPECT_EQ(counts["loss"], 5);
        for (const char* part : {"parse", "deal", "rows", "cut"}) EXPECT_EQ(counts[std::string("load.") + part], 1);
        for (const char* what : {"exchange", "all_reduce", "reduce_scatter", "redistribute"}) {
            EXPECT_EQ(counts[what + std::string(".hot")], 5) << what;  // 64 B .. 16 KiB by fours
            EXPECT_EQ(counts[what + std::string(".cold")], 5) << what;
        }
        for (const char* what : {"copy",           "activate",     "activate_dropout",  "dropout",
                                 "positive_mask",  "apply_mask",   "column_sum",        "score",
                                 "update",         "edge_softmax", "edge_softmax_back", "edge_transpose",
                                 "head_dot",       "head_spread",  "head_fold",         "head_unit",
                                 "head_unit_back", "norm_rows",    "norm_rows_back",    "norm_moments",
                                 "norm_scale",     "norm_sums",    "norm_back",         "narrow",
                                 "widen"}) {
            EXPECT_EQ(counts[std::string("stream.") + what], 1) << what;
        }
        for (const char* what : {"whole", "portions", "exchange", "both"})
            EXPECT_EQ(counts[std::string("overlap.") + what], 4) << what;
        for (const char* what : {"work", "sum", "both"}) EXPECT_EQ(counts[std::string("waiting.") + what], 3) << what;
        EXPECT_GE(pilots.size(), 2U) << "at the beginning and at the end";
        EXPECT_EQ(counts["read"], 1);
        EXPECT_EQ(counts["between.hot"], 0);
        for (const Sample& sample : samples) EXPECT_GE(*std::ranges::min_element(sample.seconds), 0) << sample.what;
    });
}

// A second passes whenever somebody looks at it, so that nothing is repeated.
class SecondsClock final : public measure::Clock {
public:
    double now() override { return ++now_; }

private:
    double now_ = 0;
};

// On a device whose memory only kernels touch, and whose work is done when somebody waits for it.
TEST(Calibration, MeasuresWhatLiesInTheMemoryOfDevices) {
    comm::SelfCommunicator self;
    SecondsClock clock;
    const auto device = testing::emulated_device();
    const Setting setting{self, clock, *device, {0, 1}};
    Scope scope = quick_device_scope(1 << 14);
    scope.effort = setting.effort;
    scope.limit = 0;
    scope.widths = {16, 41};
    scope.sides = {8, 40};
    const Measured measured = measure_all(setting, find_nodes(self, 0), scope, [](const auto&, auto, auto) {});
    std::map<std::string, int> counts = count_by_name(measured.samples);
    EXPECT_EQ(counts["spmm"], 2 * (1 + 3 + 1));
    EXPECT_EQ(counts["gemm.forward"], 4);
    EXPECT_EQ(counts["program.attend.dropout"], 3 * 3);
    EXPECT_EQ(counts["stream.norm_back"], 1);
    EXPECT_EQ(counts["loss"], 5);
    EXPECT_EQ(counts["load.cut"], 1);
    EXPECT_EQ(counts["read"], 0) << "the processor reads the host's memory only";
}

TEST(Calibration, MeasuresMessagesBetweenDevices) {
    comm::run_ranks(2, [](comm::Communicator& hosts) {
        SecondsClock clock;
        const auto device = testing::emulated_device();
        const auto comm = testing::on_emulated_device(hosts, *device);
        const Setting setting{*comm, clock, *device, {0, 1}};
        std::vector<Sample> samples;
        measure_messages(setting, find_nodes(*comm, 0), 4096, 1 << 14, samples);
        measure_overlap(setting, 1, 4096, samples);
        measure_lending(setting, samples);
        std::map<std::string, int> counts = count_by_name(samples);
        EXPECT_EQ(counts["lent_panel"], 0) << "devices have memory of their own";
        for (const char* what : {"exchange", "all_reduce", "reduce_scatter", "redistribute"})
            EXPECT_EQ(counts[what + std::string(".cold")], 1) << what;
        EXPECT_EQ(counts["overlap.both"], 1);
    });
}

TEST(Calibration, ThreadsLendPanels) {
    comm::run_ranks(3, [](comm::Communicator& comm) {
        measure::SteadyClock clock;
        const auto device = kernels::host_device(kernels::cpu_table());
        std::vector<Sample> samples;
        measure_lending({comm, clock, *device, {0, 1}}, samples);
        ASSERT_EQ(samples.size(), 1U);
        EXPECT_EQ(samples[0].what, "lent_panel");
        EXPECT_THAT(samples[0].at, ElementsAre(2));
    });
}

TEST(Calibration, ARankToANodeHasOnlyLinksBetween) {
    comm::run_ranks(2, [](comm::Communicator& comm) {
        measure::SteadyClock clock;
        const auto device = kernels::host_device(kernels::cpu_table());
        const Setting setting{comm, clock, *device, {0, 1}};
        const Nodes nodes = find_nodes(comm, 1);
        std::vector<Sample> samples;
        measure_messages(setting, nodes, 4096, 1 << 16, samples);
        EXPECT_THAT(count_by_name(samples), ElementsAre(std::pair("between.cold", 1), std::pair("between.hot", 1)));
        EXPECT_THAT(samples[0].at, ElementsAre(4096, 1));
    });
}

TEST(Calibration, NodesMeasureOneRankAloneAndAllTogether) {
    comm::run_ranks(4, [](comm::Communicator& comm) {
        measure::SteadyClock clock;
        const auto device = kernels::host_device(kernels::cpu_table());
        const Setting setting{comm, clock, *device, {0, 1}};
        const Nodes nodes = find_nodes(comm, 2);
        const std::vector<std::vector<int>> firsts = {{2}, {}, {0}, {}};
        EXPECT_EQ(nodes.first_elsewhere(comm.rank()), firsts[static_cast<std::size_t>(comm.rank())]);
        std::vector<Sample> samples;
        measure_messages(setting, nodes, 4096, 1 << 16, samples);
        for (const Sample& sample : samples) {
            if (sample.what.starts_with("between.")) {
                EXPECT_THAT(sample.at, ElementsAre(4096, 1));
            }
            if (sample.what.starts_with("cards.")) {
                EXPECT_THAT(sample.at, ElementsAre(4096, 2, 2));
            }
        }
        const auto counts = count_by_name(samples);
        for (const char* what : {"between.hot", "between.cold", "cards.hot", "cards.cold"})
            EXPECT_EQ(counts.at(what), 1) << what;
    });
}

TEST(Calibration, SizesKeepToTheLargest) {
    for (const auto& scope :
         {quick_scope(1 << 20), full_scope(1 << 20), quick_device_scope(1 << 20), full_device_scope(1 << 20)}) {
        for (const auto* sizes : {&scope.windows, &scope.streams, &scope.messages}) {
            ASSERT_FALSE(sizes->empty());
            EXPECT_LE(sizes->back(), 1 << 20);
        }
    }
    EXPECT_EQ(full_scope(std::int64_t{1} << 40).messages.back(), 64 << 20);
}

}  // namespace
}  // namespace gnnplan::calibrate
