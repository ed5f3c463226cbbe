#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/machine.hpp>

#include <functional>
#include <limits>

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
    };
    for (const auto& alter : alterations) {
        Machine m = machine();
        alter(m);
        EXPECT_THROW(validate(m), Error);
    }
}

}  // namespace
}  // namespace gnnplan
