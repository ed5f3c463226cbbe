#include "runtime/sample/neighbours.hpp"

#include "runtime/generate/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace gnnplan::sample {
namespace {

data::Graph graph_of(bool loops, bool weighted = false) {
    data::GeneratedGraph generated = data::generate_rmat({.vertices = 300, .nonzeros = 6000, .seed = 3});
    data::EdgeList edges(weighted);
    generated.edges.for_each([&](data::Edge e) {
        // Directed: an edge into a vertex is not one out of it.
        if ((e.from + 2 * e.to) % 3 != 0) edges.add(e.from, e.to, 0.5F + static_cast<float>(e.from % 7));
    });
    data::PreparationCounts counts;
    return data::build_graph(std::move(edges), 300, {false, loops, weighted}, counts);
}

// A vertex 0 with `degree` in-neighbours.
data::Graph star(std::int64_t degree) {
    data::EdgeList edges;
    for (std::int64_t u = 1; u <= degree; ++u) edges.add(static_cast<std::int32_t>(u), 0);
    data::PreparationCounts counts;
    return data::build_graph(std::move(edges), degree + 1, {false, true, false}, counts);
}

std::vector<std::int32_t> row_of(const data::Csr& matrix, std::int64_t v) {
    const auto begin = matrix.column.begin() + matrix.row_start[static_cast<std::size_t>(v)];
    return {begin, begin + matrix.degree(v)};
}

TEST(DrawNeighbours, DistinctOnesOfThoseThatAreThereAndLoops) {
    for (const bool loops : {false, true}) {
        const data::Graph graph = graph_of(loops);
        const data::Csr& all = graph.matrix(forward_matrix);
        const std::vector<std::int64_t> fanout{1, 5, 1000};
        const auto drawn = draw_neighbours(graph.matrix(forward_matrix), fanout, 7, false);
        ASSERT_EQ(drawn.size(), 3U);
        EXPECT_EQ(drawn[2].column, all.column) << "no vertex has so many";
        for (std::size_t l = 0; l < drawn.size(); ++l) {
            EXPECT_FALSE(drawn[l].weighted());
            for (std::int64_t v = 0; v < all.vertices; ++v) {
                const auto row = row_of(drawn[l], v), whole = row_of(all, v);
                const std::int64_t loop = loops ? 1 : 0;
                EXPECT_EQ(std::ssize(row), std::min(std::ssize(whole) - loop, fanout[l]) + loop);
                EXPECT_TRUE(std::ranges::is_sorted(row, std::less_equal<>()) || row.size() < 2);
                EXPECT_TRUE(std::ranges::includes(whole, row)) << "vertex " << v;
                EXPECT_EQ(std::ranges::count(row, static_cast<std::int32_t>(v)), loop);
            }
        }
    }
}

// Nothing but the seed, the layer and the vertex decides.
TEST(DrawNeighbours, LayersAndSeedsDrawByThemselves) {
    const data::Graph graph = graph_of(true);
    const auto drawn = draw_neighbours(graph.matrix(forward_matrix), {4, 4}, 7, false);
    EXPECT_NE(drawn[0].column, drawn[1].column) << "layers draw alike";
    EXPECT_EQ(draw_neighbours(graph.matrix(forward_matrix), {1, 4}, 7, false)[1].column, drawn[1].column);
    EXPECT_EQ(draw_neighbours(graph.matrix(forward_matrix), {4}, 7, true)[0].column, drawn[0].column);
    EXPECT_NE(draw_neighbours(graph.matrix(forward_matrix), {4}, 8, false)[0].column, drawn[0].column);

    // Numbers serve several layers, which must not show.
    const auto many = draw_neighbours(graph.matrix(forward_matrix), {4, 4, 4, 4, 4, 4, 4}, 7, false);
    for (std::size_t l = 0; l < many.size(); ++l) {
        for (std::size_t other = 0; other < l; ++other) EXPECT_NE(many[l].column, many[other].column);
        std::vector<std::int64_t> fanout(l + 1, 1 + static_cast<std::int64_t>(l));
        fanout[l] = 4;
        EXPECT_EQ(draw_neighbours(graph.matrix(forward_matrix), fanout, 7, false)[l].column, many[l].column) << l;
    }
}

// An edge stands for degree / fanout, so that sums over rows keep their expectation; a loop stands for itself.
TEST(DrawNeighbours, WeightsSayWhatAnEdgeStandsFor) {
    for (const bool weighted : {false, true}) {
        const data::Graph graph = graph_of(true, weighted);
        const data::Csr& all = graph.matrix(forward_matrix);
        const auto drawn = draw_neighbours(graph.matrix(forward_matrix), {3}, 5, true).front();
        for (std::int64_t v = 0; v < all.vertices; ++v) {
            const std::int64_t degree = all.degree(v) - 1;
            for (std::int64_t e = drawn.row_start[static_cast<std::size_t>(v)];
                 e < drawn.row_start[static_cast<std::size_t>(v) + 1]; ++e) {
                const std::int32_t u = drawn.column[static_cast<std::size_t>(e)];
                const float own = u == v || !weighted ? 1.0F : 0.5F + static_cast<float>(u % 7);
                const float each = u == v || degree <= 3 ? 1.0F : static_cast<float>(degree) / 3.0F;
                EXPECT_FLOAT_EQ(drawn.weight[static_cast<std::size_t>(e)], own * each) << u << " -> " << v;
            }
        }
    }
}

// Pearson's statistic of how often each neighbour, and each pair, is drawn, against the quantile of 1 - 1e-6 of a
// normal distribution of its mean and variance. Neighbours of one draw exclude each other, which makes it smaller: by
// (d - k) / (d - 1) in the mean.
TEST(DrawNeighbours, EveryNeighbourAndPairIsAsLikely) {
    constexpr std::int64_t degree = 20, fanout = 6;
    constexpr int draws = 20000;
    const data::Graph graph = star(degree);
    std::map<std::int32_t, double> single;
    std::map<std::pair<std::int32_t, std::int32_t>, double> pair;
    for (int i = 0; i < draws; ++i) {
        const auto layers = draw_neighbours(graph.matrix(forward_matrix), {fanout, fanout, fanout, fanout},
                                            static_cast<std::uint64_t>(i / 4), false);
        const auto row = row_of(layers[static_cast<std::size_t>(i % 4)], 0);
        for (const std::int32_t u : row) {
            if (u != 0) ++single[u];
            for (const std::int32_t w : row) {
                if (u != 0 && u < w) ++pair[{u, w}];
            }
        }
    }
    const auto statistic = [](const auto& counts, double expected) {
        double sum = 0;
        for (const auto& [key, count] : counts) sum += std::pow(count - expected, 2) / expected;
        return sum;
    };
    const double of_one = 1.0 * draws * fanout / degree;
    ASSERT_EQ(single.size(), 20U);
    const double mean = (degree - 1) * (1 - (fanout - 1.0) / (degree - 1));  // of the statistic
    EXPECT_LT(statistic(single, of_one), mean + 4.75 * std::sqrt(2 * mean));
    const double of_two = of_one * (fanout - 1) / (degree - 1);
    ASSERT_EQ(pair.size(), 190U);
    EXPECT_LT(statistic(pair, of_two), 189 + 4.75 * std::sqrt(2 * 189.0));
    EXPECT_GT(statistic(pair, of_two), 40) << "too even for chance";
}

}  // namespace
}  // namespace gnnplan::sample
