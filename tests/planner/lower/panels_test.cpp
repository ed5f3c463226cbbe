// Into how many source panels lowering has blocks stored.
#include "planner/lower/lower.hpp"

#include <gnnplan/models.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace gnnplan::lower {
namespace {

constexpr std::int64_t mib = 1 << 20;

std::int64_t panel_columns(const GraphShape& shape, const std::vector<std::int64_t>& widths, int ranks, bool cached) {
    Configuration c;
    c.grid = {1, ranks, 1};
    c.forward = parse_orders("SD");
    c.backward = parse_orders("D-");
    c.operands = parse_operands("TG");
    c.constant_input = c.cached_aggregation = cached;
    const Schedule schedule = lower(sites_of(models::gcn(widths, false)), c, shape);
    const auto matrix = std::find_if(schedule.tensors.begin(), schedule.tensors.end(),
                                     [](const Tensor& t) { return t.role == Role::adjacency; });
    return matrix->storage.panel_columns;
}

TEST(Panels, FillMostOfTheCacheAndHaveNonzerosEnough) {
    GraphShape shape{233'000, true, {}, 0, true, 23'155'182, 32 * mib};
    // 233,000 rows of 128 floats over 24 MiB are 5, 99 nonzeros a row at 20 a panel 4.
    EXPECT_EQ(panel_columns(shape, {602, 128, 41}, 1, false), 233'000 / 4);
    // Two ranks have 301 of 602 columns, of which a slice counts; without layer 1's product 41 / 2 or 128 / 2 are
    // widest.
    EXPECT_EQ(panel_columns(shape, {602, 128, 41}, 2, false), 233'000 / 4);
    EXPECT_EQ(panel_columns(shape, {602, 128, 41}, 2, true), (233'000 + 2) / 3);
    shape.cache_bytes = 1024 * mib;
    EXPECT_EQ(panel_columns(shape, {602, 128, 41}, 1, false), 0) << "all of it fits";
    shape.cache_bytes = 0;
    EXPECT_EQ(panel_columns(shape, {602, 128, 41}, 1, false), 0) << "nothing is known";
    shape.cache_bytes = 32 * mib;
    shape.nonzeros = 2'490'000;
    EXPECT_EQ(panel_columns(shape, {602, 128, 41}, 1, false), 0) << "too sparse";
}

}  // namespace
}  // namespace gnnplan::lower
