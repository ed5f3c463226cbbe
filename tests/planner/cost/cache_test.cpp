#include "planner/cost/cache.hpp"

#include <gtest/gtest.h>

namespace gnnplan::cost {
namespace {

constexpr std::int64_t mib = 1 << 20;

Machine gathers(std::vector<GatherCurve> curves) {
    Machine machine;
    machine.calibration.emplace();
    machine.calibration->gather = std::move(curves);
    return machine;
}

TEST(GatheredCache, IsWhereTheCurveLeavesItsPlateau) {
    // The geometric mean of 1 and 5 is 2.24.
    const GatherCurve curve{
        128, {{mib, 1e-9}, {8 * mib, 1.2e-9}, {32 * mib, 2.2e-9}, {64 * mib, 2.3e-9}, {256 * mib, 5e-9}}, 0};
    EXPECT_EQ(gathered_cache_bytes(gathers({curve})), 32 * mib);
}

TEST(GatheredCache, IsReadFromTheCurveNextToRowsOf512Bytes) {
    const GatherCurve narrow{16, {{mib, 1e-9}, {256 * mib, 9e-9}}, 0};
    const GatherCurve near{96, {{mib, 1e-9}, {16 * mib, 1.1e-9}, {256 * mib, 9e-9}}, 0};
    const GatherCurve wide{512, {{mib, 1e-9}, {64 * mib, 1.1e-9}, {256 * mib, 9e-9}}, 0};
    EXPECT_EQ(gathered_cache_bytes(gathers({narrow, near, wide})), 16 * mib);
}

TEST(GatheredCache, IsUnknownWithoutAFall) {
    EXPECT_EQ(gathered_cache_bytes(Machine{}), 0);
    EXPECT_EQ(gathered_cache_bytes(gathers({})), 0);
    EXPECT_EQ(gathered_cache_bytes(gathers({{128, {{mib, 1e-9}, {256 * mib, 1.4e-9}}, 0}})), 0);
}

}  // namespace
}  // namespace gnnplan::cost
