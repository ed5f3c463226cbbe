#include <gtest/gtest.h>
#include <gnnplan/ir/graph_stats.hpp>

#include <cmath>
#include <numeric>

namespace gnnplan {
namespace {

double total(const ReuseHistogram& histogram) {
    return std::accumulate(histogram.reuses.begin(), histogram.reuses.end(), histogram.first_uses);
}

TEST(ReuseHistogram, SpreadsEvenlyOverItsBuckets) {
    ReuseHistogram histogram;
    histogram.spread(24, 2, 26, 100);
    EXPECT_EQ(histogram.reuses, (std::vector<double>{0, 2, 4, 8, 10}));
    EXPECT_EQ(histogram.between, (std::vector<double>{0, 200, 400, 800, 1000}));
    histogram.spread(3, 0.5, 1.5);
    histogram.spread(1, 16, 16);
    histogram.spread(0, 1e9, 2e9);
    EXPECT_EQ(histogram.reuses, (std::vector<double>{3, 2, 4, 8, 11}));
}

TEST(ReuseHistogram, AddsUp) {
    ReuseHistogram sum{{1, 2}, {4, 6}, 5, 3, 20, 10, 4};
    sum.add({{1, 1, 1}, {0, 1, 2}, 7, 2, 2, 1, 1});
    EXPECT_EQ(sum.reuses, (std::vector<double>{2, 3, 1}));
    EXPECT_EQ(sum.between, (std::vector<double>{4, 7, 2}));
    EXPECT_EQ(sum.row_sweeps, 22);
    EXPECT_EQ(sum.row_visits, 11);
    EXPECT_EQ(sum.row_changes, 5);
    EXPECT_EQ(sum.first_uses, 12);
    EXPECT_EQ(sum.most_distinct, 3);
}

// Many nonzeros on few columns: the column comes back after 0 .. 1023 others, each equally likely.
TEST(UniformReuse, IsUniformOverTheColumns) {
    const UniformStats graph(1 << 20, std::int64_t{1} << 34, true);
    const ReuseHistogram histogram = graph.reuse(forward_matrix, {0, 1 << 16}, {0, 1024}, 0);
    const double nonzeros = 1 << 20;
    EXPECT_NEAR(histogram.first_uses, 1024, 1e-6);
    EXPECT_EQ(histogram.most_distinct, histogram.first_uses);
    EXPECT_NEAR(total(histogram), nonzeros, 1e-3);
    ASSERT_EQ(histogram.reuses.size(), 10U);
    for (std::size_t b = 0; b < 10; ++b) {
        const double share = (b == 0 ? 2 : std::exp2(b)) / 1024;
        EXPECT_NEAR(histogram.reuses[b] / nonzeros, share, 1e-3 * share + 1e-3) << b;
    }
}

// n nonzeros on n columns: after t of them the share u = 1 - e^(-t/n) of the columns has been met. Less than n/2 others
// lie in between for a nonzero of chance u while u < 1/2, and of chance 1/2 from t = n ln 2 on: n ln(2) / 2 in all.
TEST(UniformReuse, OfFewNonzeros) {
    const std::int64_t n = 1 << 20;
    const ReuseHistogram histogram = UniformStats(n, n, true).reuse(backward_matrix, {0, n}, {0, n}, 0);
    const double e = std::exp(1.0);
    EXPECT_NEAR(histogram.first_uses / static_cast<double>(n), 1 - 1 / e, 1e-5);
    EXPECT_NEAR(total(histogram), static_cast<double>(n), 1);
    const double half = std::accumulate(histogram.reuses.begin(), histogram.reuses.begin() + 19, 0.0);
    EXPECT_NEAR(half / static_cast<double>(n), std::log(2.0) / 2, 1e-5);
}

TEST(UniformReuse, PanelsKeepRowsNear) {
    const UniformStats graph(1 << 16, 1 << 22, true);
    const Range all{0, 1 << 16};
    const ReuseHistogram whole = graph.reuse(forward_matrix, all, all, 0);
    const ReuseHistogram panels = graph.reuse(forward_matrix, all, all, 1 << 12);
    EXPECT_NEAR(panels.first_uses, whole.first_uses, 1e-6);
    EXPECT_NEAR(panels.most_distinct, whole.most_distinct / 16, 1e-6);
    EXPECT_NEAR(total(panels), total(whole), 1e-3);
    EXPECT_NEAR(whole.row_visits, 1 << 16, 1e-6);
    EXPECT_NEAR(panels.row_visits, 16 * (1 << 16) * (1 - std::exp(-4)), 1e-3) << "4 nonzeros a row and panel";
    EXPECT_EQ(panels.row_sweeps, 16 * (1 << 16));
    EXPECT_NEAR(panels.row_changes, panels.row_sweeps - panels.row_visits, 1e-3) << "few have none";
    EXPECT_EQ(whole.reuses.size(), 16U);
    EXPECT_EQ(panels.reuses.size(), 12U);
    EXPECT_EQ(graph.reuse(forward_matrix, all, all, 1 << 20).reuses, whole.reuses);
}

TEST(UniformReuse, OfNothing) {
    const UniformStats graph(100, 0, true);
    EXPECT_EQ(total(graph.reuse(forward_matrix, {0, 100}, {0, 100}, 10)), 0);
    EXPECT_EQ(total(graph.reuse(forward_matrix, {0, 0}, {5, 5}, 10)), 0);
    EXPECT_EQ(total(UniformStats(1, 1, true).reuse(forward_matrix, {0, 1}, {0, 1}, 0)), 1);
}

}  // namespace
}  // namespace gnnplan
