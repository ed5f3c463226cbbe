#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/machine.hpp>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace gnnplan {
namespace {

Machine machine() {
    return {"m", "made up", false, 2, 1 << 30, {1e-6, 1e9}, {1e-5, 1e8}, {{16, 1e9}, {64, 4e9}}, 1e11, 1e10, 0};
}

TEST(Machine, SparseRateIsInterpolatedAndClamped) {
    EXPECT_DOUBLE_EQ(spmm_flops_per_second(machine(), 1), 1e9);
    EXPECT_DOUBLE_EQ(spmm_flops_per_second(machine(), 16), 1e9);
    EXPECT_DOUBLE_EQ(spmm_flops_per_second(machine(), 40), 2.5e9);
    EXPECT_DOUBLE_EQ(spmm_flops_per_second(machine(), 64), 4e9);
    EXPECT_DOUBLE_EQ(spmm_flops_per_second(machine(), 1000), 4e9);
}

TEST(Machine, RefusesWhatCannotBe) {
    EXPECT_NO_THROW(validate(machine()));
    const std::function<void(Machine&)> alterations[] = {
        [](Machine& m) { m.ranks_per_node = 0; },
        [](Machine& m) { m.memory_per_rank = -1; },
        [](Machine& m) { m.intra_node.latency_seconds = -1e-9; },
        [](Machine& m) { m.inter_node.bytes_per_second = 0; },
        [](Machine& m) { m.spmm.clear(); },
        [](Machine& m) { m.spmm[1].width = 16; },
        [](Machine& m) { m.spmm[0].flops_per_second = std::numeric_limits<double>::quiet_NaN(); },
        [](Machine& m) { m.gemm_flops_per_second = std::numeric_limits<double>::infinity(); },
        [](Machine& m) { m.memory_bytes_per_second = 0; },
        [](Machine& m) { m.step_seconds = -1; },
        [](Machine& m) { m.reserved_bytes = -1; },
        [](Machine& m) { m.threads_per_rank = 0; },
        [](Machine& m) {
            m.network_cards = NetworkCards{0, 1e9};
        },
        [](Machine& m) {
            m.network_cards = NetworkCards{1, 0};
        },
        [](Machine& m) {
            m.all_to_all = Link{1e-6, 0};
        },
        [](Machine& m) { m.reserved_bytes = m.memory_per_rank; },
    };
    for (const auto& alter : alterations) {
        Machine m = machine();
        alter(m);
        EXPECT_THROW(validate(m), Error);
    }
}

TEST(Machine, RefusesABlockingThatCannotBeByName) {
    const auto refused = [](const std::function<void(Blocking&)>& alter) -> std::string {
        Machine m = machine();
        m.blocking = gpu_blocking(6'000'000);
        EXPECT_NO_THROW(validate(m));
        alter(m.blocking);
        try {
            validate(m);
        } catch (const Error& error) {
            return error.what();
        }
        return "accepted";
    };
    for (const std::int64_t bytes : {0, 16, 48, 128}) {
        EXPECT_THAT(refused([bytes](Blocking& b) { b.unit_bytes = bytes; }),
                    testing::HasSubstr("blocking.unit_bytes must be 32, a sector of a GPU's memory, or 64"));
    }
    EXPECT_THAT(refused([](Blocking& b) { b.slice_columns = 0; }),
                testing::HasSubstr("blocking.slice_columns must be at least 1"));
    EXPECT_THAT(refused([](Blocking& b) { b.cache_bytes = -1; }),
                testing::HasSubstr("blocking.cache_bytes must not be negative"));
    EXPECT_THAT(refused([](Blocking& b) { b.row_start_bytes = 2; }),
                testing::HasSubstr("blocking.row_start_bytes must be 4 or 8"));
    EXPECT_THAT(refused([](Blocking& b) { b.least_slice_columns = 0; }),
                testing::HasSubstr("blocking.least_slice_columns must be at least 1"));
}

Machine calibrated() {
    Machine m = machine();
    m.intra_node.segments = {{0, 1e-6, 1e9}, {4096, 0, 5e9}};
    m.calibration = Calibration{{{16, {{1 << 15, 1e-9}, {1 << 20, 2e-9}}, 1e-8}, {64, {{1 << 15, 3e-9}}, 0}},
                                {{GemmKind::forward, 128, 128, 1e11}, {GemmKind::weight_gradient, 128, 128, 9e10}},
                                {{ElementwiseKind::copy, 1 << 15, 2e10},
                                 {ElementwiseKind::copy, 1 << 20, 1e10},
                                 {ElementwiseKind::update, 1 << 15, 1e10}},
                                {{Program::max, 0, false, {1e-9, 1e-11}}, {Program::attend, 8, false, {4e-9, 0}}},
                                LossCost{2e-8, 3e-10},
                                std::nullopt,
                                Link{1e-6, 1e9},
                                Link{1e-6, 1e9},
                                Link{1e-6, 1e9},
                                1e-6,
                                1.2,
                                0.4,
                                0.05,
                                0.1};
    return m;
}

std::string refusal(const std::function<void(Machine&)>& alter) {
    Machine m = calibrated();
    alter(m);
    try {
        validate(m);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Calibration, RefusesWhatCannotBeByName) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_NO_THROW(validate(calibrated()));
    const auto expect = [](const std::string& what, const std::function<void(Calibration&)>& alter) {
        EXPECT_THAT(refusal([&](Machine& m) { alter(*m.calibration); }), testing::HasSubstr("calibration." + what));
    };
    expect("gather[1].width must be positive and increasing", [](Calibration& c) { c.gather[1].width = 16; });
    expect("gather[0].costs needs", [](Calibration& c) { c.gather[0].costs.clear(); });
    expect("gather[0].costs[0].working_set_bytes", [](Calibration& c) { c.gather[0].costs[0].working_set_bytes = 0; });
    expect("gather[0].costs[1].working_set_bytes", [](Calibration& c) { c.gather[0].costs[1].working_set_bytes = 9; });
    expect("gather[1].costs[0].seconds_per_nonzero must be positive",
           [](Calibration& c) { c.gather[1].costs[0].seconds_per_nonzero = 0; });
    expect("gather[1].seconds_per_row", [](Calibration& c) { c.gather[1].seconds_per_row = -1; });
    expect("gather[0].passing.seconds_per_row", [](Calibration& c) { c.gather[0].passing = PassingCost{-1, 0}; });
    expect("gather[0].passing.seconds_per_change", [](Calibration& c) { c.gather[0].passing = PassingCost{0, -1}; });
    expect("gather[0].seconds_per_row_again", [](Calibration& c) { c.gather[0].seconds_per_row_again = -1; });
    expect("gemm[1].inner", [](Calibration& c) { c.gemm[1].inner = 0; });
    expect("gemm[0].columns", [](Calibration& c) { c.gemm[0].columns = -1; });
    expect("gemm[0].flops_per_second", [=](Calibration& c) { c.gemm[0].flops_per_second = infinity; });
    expect("gemm[1] repeats", [](Calibration& c) { c.gemm[1].product = GemmKind::forward; });
    expect("programs[0].nonzero.seconds must", [=](Calibration& c) { c.programs[0].nonzero.seconds = infinity; });
    expect("programs[1].row.seconds_per_column",
           [=](Calibration& c) { c.programs[1].row.seconds_per_column = infinity; });
    expect("programs[1].working_set_bytes", [](Calibration& c) { c.programs[1].working_set_bytes = 0; });
    expect("programs[1].waiting", [](Calibration& c) { c.programs[1].waiting = -1; });
    expect("programs[1].heads", [](Calibration& c) { c.programs[1].heads = -1; });
    expect("programs[1] must come", [](Calibration& c) { c.programs[1] = {Program::max, 0, false}; });
    expect("streams[0].working_set_bytes", [](Calibration& c) { c.streams[0].working_set_bytes = 0; });
    expect("streams[2].bytes_per_second", [](Calibration& c) { c.streams[2].bytes_per_second = 0; });
    expect("streams[1] must follow", [](Calibration& c) { c.streams[1].working_set_bytes = 1 << 15; });
    expect("loading.cut_seconds_per_nonzero", [](Calibration& c) { c.loading = LoadingCost{1e-7, 1e-8, 1e-8, -1e-9}; });
    expect("loss.seconds_per_row", [](Calibration& c) { c.loss->seconds_per_row = -1; });
    expect("lent_panel_seconds", [](Calibration& c) { c.lent_panel_seconds = -1; });
    expect("loss.seconds_per_logit", [](Calibration& c) { c.loss->seconds_per_logit = 0; });
    expect("all_reduce.bytes_per_second", [](Calibration& c) { c.all_reduce->bytes_per_second = 0; });
    expect("reduce_scatter.bytes_per_second", [](Calibration& c) { c.reduce_scatter->bytes_per_second = 0; });
    expect("redistribution.bytes_per_second", [](Calibration& c) { c.redistribution->bytes_per_second = 0; });
    expect("threads", [](Calibration& c) { c.threads = 0; });
    expect("overlap_slowdown", [](Calibration& c) { c.overlap_slowdown = 0.5; });
    expect("overlap_exposed", [](Calibration& c) { c.overlap_exposed = 1.5; });
    expect("error_median", [](Calibration& c) { c.error_median = -0.1; });
    expect("error_p90", [=](Calibration& c) { c.error_p90 = infinity; });
    expect("busy", [](Calibration& c) { c.busy = -0.1; });
}

TEST(Link, RefusesSegmentsOutOfOrder) {
    const auto segments = [](const std::function<void(std::vector<LinkSegment>&)>& alter) {
        return refusal([&](Machine& m) { alter(m.intra_node.segments); });
    };
    EXPECT_THAT(segments([](auto& s) { s[0].from_bytes = 1; }),
                testing::HasSubstr("intra_node.segments[0].from_bytes"));
    EXPECT_THAT(segments([](auto& s) { s[1].from_bytes = 0; }),
                testing::HasSubstr("intra_node.segments[1].from_bytes"));
    EXPECT_THAT(segments([](auto& s) { s[1].bytes_per_second = 0; }),
                testing::HasSubstr("intra_node.segments[1].bytes_per_second"));
    EXPECT_THAT(segments([](auto& s) { s[1].latency_seconds = -1; }),
                testing::HasSubstr("intra_node.segments[1].latency_seconds"));
}

}  // namespace
}  // namespace gnnplan
