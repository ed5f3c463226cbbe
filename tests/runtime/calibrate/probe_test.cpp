// A machine whose speed we set: kernels that only let time pass.
#include "runtime/calibrate/probe.hpp"
#include "planner/calibrate/fit.hpp"
#include "planner/cost/rates.hpp"
#include "runtime/calibrate/calibrate.hpp"
#include "runtime/comm/self.hpp"
#include "runtime/comm/threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace gnnplan::calibrate {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::int64_t mib = 1 << 20;

// Seconds of the machine, and the moment from which its memory is half as fast. Kernels are plain functions, so that
// they are of the thread that measures.
thread_local double now = 0;
thread_local double slow_from = never;
thread_local double slowness = 1;  // of this rank

void pass(double seconds, double memory_slowness) {
    now += slowness * seconds * (now >= slow_from ? memory_slowness : 1);
}

// Reading it takes a while, so that what is no kernel ends, too.
class KernelClock final : public measure::Clock {
public:
    double now() override { return calibrate::now += 2e-5; }
};

constexpr double copy_rate = 1e9, gemm_rate = 1e10;  // bytes and operations a second

// Gathering is 1.2 times as slow near, and twice as slow far.
double gather_slowness(double bytes) {
    const double share = std::log2(bytes / (8 * mib)) / 5;
    return 1 / (1 / 1.2 + std::clamp(share, 0.0, 1.0) * (0.5 - 1 / 1.2));
}

// Elementwise work is as slow as gathering from near in caches, and twice as slow from 32 MiB on.
double stream_slowness(double bytes) {
    const double share = std::log2(bytes / (8 * mib)) / 2;
    return 1 / (1 / 1.2 + std::clamp(share, 0.0, 1.0) * (0.5 - 1 / 1.2));
}

void fake_spmm(const kernels::Csr& a, kernels::ConstMatrix b, kernels::Matrix, bool, kernels::PanelRoom) {
    const auto bytes = static_cast<double>(b.rows * b.columns * 4);
    const double nonzero = 1e-9 * static_cast<double>(b.columns) * (1 + 0.2 * std::log2(1 + bytes / mib));
    const auto nonzeros = static_cast<double>(a.row_start[a.rows]);
    pass(nonzeros * nonzero + static_cast<double>(a.rows) * 1e-7, gather_slowness(bytes));
}
void fake_gemm(kernels::Transpose, kernels::Transpose, kernels::ConstMatrix a, kernels::ConstMatrix b,
               kernels::Matrix c, bool) {
    const std::int64_t products = c.rows * c.columns * (a.rows == c.rows ? a.columns : a.rows);
    const std::int64_t bytes = 4 * (a.rows * a.columns + b.rows * b.columns + c.rows * c.columns);
    const double slow = now >= slow_from ? 2 : 1;
    pass(std::max(2 * static_cast<double>(products) / gemm_rate, slow * static_cast<double>(bytes) / copy_rate), 1);
}
void fake_copy(kernels::ConstMatrix a, kernels::Matrix) {
    const auto bytes = static_cast<double>(a.rows * a.columns * 8);
    pass(bytes / copy_rate, stream_slowness(bytes));
}
void fake_activate(kernels::Matrix z, const float*, Activation, const kernels::DropoutKey&, std::uint8_t*) {
    const auto bytes = static_cast<double>(z.rows * z.columns * 8);
    pass(bytes / (copy_rate / 2), stream_slowness(bytes));
}

template <class... Arguments>
void make_idle(void (*&kernel)(Arguments...)) {
    kernel = [](Arguments...) { pass(1e-3, 1); };
}

const kernels::Table& fake_table() {
    static const kernels::Table table = [] {
        kernels::Table fake = kernels::cpu_table();
        fake.spmm = fake_spmm;
        fake.gemm = fake_gemm;
        fake.copy = fake_copy;
        fake.activate = fake_activate;
        const auto others = [](auto&... kernels) { (make_idle(kernels), ...); };
        others(fake.spmm_max, fake.spmm_max_back, fake.attend, fake.attend_back, fake.edge_dot, fake.edge_softmax,
               fake.edge_softmax_back, fake.head_dot, fake.head_spread, fake.head_fold, fake.head_unit,
               fake.head_unit_back, fake.positive_mask, fake.apply_mask, fake.column_sum, fake.count_correct,
               fake.cross_entropy, fake.norm_rows, fake.norm_rows_back, fake.batch_moments, fake.batch_scale,
               fake.batch_sums, fake.batch_back, fake.softmax_cross_entropy, fake.dropout, fake.update, fake.narrow,
               fake.widen);
        return fake;
    }();
    return table;
}

void start_machine(double slow, double from = never) {
    now = 0;
    slowness = slow;
    slow_from = from;
}

TEST(Probe, MeasuresTheRatesOfTheSlowestRank) {
    comm::run_ranks(2, [](comm::Communicator& comm) {
        KernelClock clock;
        start_machine(comm.rank() == 1 ? 2 : 1);
        const Nodes nodes = find_nodes(comm, 0);
        const auto device = kernels::host_device(fake_table());
        Probe probe({comm, clock, *device, {0, 3}}, nodes, 4 * mib);
        const ProbeFigures figures = probe.measure();
        EXPECT_EQ(figures.largest_bytes, 4 * mib);
        EXPECT_NEAR(figures.gemm_flops_per_second, gemm_rate / 2, 5e-3 * gemm_rate);
        EXPECT_NEAR(figures.copy_bytes_per_second, copy_rate / 2, 5e-3 * copy_rate);
        EXPECT_NEAR(figures.near_bytes_per_second, figures.far_bytes_per_second, 1e-3 * figures.far_bytes_per_second)
            << "both gather from 4 MiB";
        EXPECT_GT(figures.exchange_bytes_per_second.value_or(0), 0);
        EXPECT_FALSE(figures.between_bytes_per_second);
    });
}

TEST(Probe, AloneHasNoLinks) {
    comm::SelfCommunicator self;
    KernelClock clock;
    start_machine(1);
    const Nodes nodes = find_nodes(self, 0);
    const auto device = kernels::host_device(fake_table());
    const ProbeFigures figures = Probe({self, clock, *device, {0, 3}}, nodes, 4 * mib).measure();
    EXPECT_NEAR(figures.copy_bytes_per_second, copy_rate, 5e-3 * copy_rate);
    EXPECT_FALSE(figures.exchange_bytes_per_second);
}

TEST(Probe, ARankToANodeHasOnlyLinksBetween) {
    comm::run_ranks(2, [](comm::Communicator& comm) {
        measure::SteadyClock clock;
        const Nodes nodes = find_nodes(comm, 1);
        const auto device = kernels::host_device(kernels::cpu_table());
        const ProbeFigures figures = Probe({comm, clock, *device, {0, 1}}, nodes, 1 << 16).measure();
        EXPECT_FALSE(figures.exchange_bytes_per_second);
        EXPECT_GT(figures.between_bytes_per_second.value_or(0), 0);
    });
}

Measured calibrate_fake(double slow_from_second) {
    comm::SelfCommunicator self;
    KernelClock clock;
    start_machine(1, slow_from_second);
    Scope scope = full_scope(32 * mib);
    scope.widths = {128};
    scope.windows = {mib, 4 * mib, 8 * mib, 16 * mib, 32 * mib};
    scope.sides = {8, 128, 602};
    scope.streams = {mib, 8 * mib};
    scope.effort = {0, 1};
    scope.pilot_every = 4;
    const auto device = kernels::host_device(fake_table());
    const Setting setting{self, clock, *device, scope.effort};
    return measure_all(setting, find_nodes(self, 0), scope, [](const std::string&, std::size_t, std::size_t) {});
}

double largest_difference(const Machine& a, const Machine& b) {
    double most = 0;
    const auto compare = [&](double x, double y) { most = std::max(most, std::abs(x / y - 1)); };
    const auto &one = *a.calibration, &other = *b.calibration;
    for (std::size_t i = 0; i < one.gather[0].costs.size(); ++i)
        compare(one.gather[0].costs[i].seconds_per_nonzero, other.gather[0].costs[i].seconds_per_nonzero);
    for (std::size_t i = 0; i < one.gemm.size(); ++i)
        compare(one.gemm[i].flops_per_second, other.gemm[i].flops_per_second);
    for (const ElementwiseKind stream : {ElementwiseKind::copy, ElementwiseKind::activate})
        compare(elementwise_bytes_per_second(a, stream, 8 * mib), elementwise_bytes_per_second(b, stream, 8 * mib));
    return most;
}

TEST(Probe, CalibrationsDoNotSeeThatMemoryBecameSlow) {
    const Machine base;
    const Measured steady = calibrate_fake(never);
    const double seconds = steady.pilots.back().when;
    const Machine expected = fit_machine(base, steady.samples);
    ASSERT_GE(steady.pilots.size(), 5U);
    const Measured drifted = calibrate_fake(0.75 * seconds);
    EXPECT_NEAR(drifted.pilots.back().figures.copy_bytes_per_second, copy_rate / 2, 5e-3 * copy_rate);
    EXPECT_NEAR(reference_of(drifted.pilots).middle.copy_bytes_per_second, copy_rate, 5e-3 * copy_rate);
    EXPECT_LT(largest_difference(fit_machine(base, drifted.samples), expected), 0.02);
    // All of it slow differs.
    const Measured slow = calibrate_fake(0);
    EXPECT_GT(largest_difference(fit_machine(base, slow.samples), expected), 0.4);
}

}  // namespace
}  // namespace gnnplan::calibrate
