// The vertices of batches: how often each is drawn.
#include "runtime/sample/draws.hpp"

#include "runtime/graph/partition.hpp"
#include "tests/runtime/graph/random_graphs.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace gnnplan::sample {
namespace {

using data::Graph;
using Pair = std::pair<std::int32_t, std::int32_t>;

// Sum of (seen - expected)^2 / expected, for expectations in any unit; with so many degrees of freedom it is below
// f + 5 sqrt(2 f) but once in millions of times.
void expect_likely(const std::map<Pair, double>& weights, const std::map<Pair, std::int64_t>& seen) {
    double all = 0, draws = 0, distance = 0;
    for (const auto& [pair, weight] : weights) all += weight;
    for (const auto& [pair, count] : seen) {
        draws += static_cast<double>(count);
        EXPECT_TRUE(weights.contains(pair)) << pair.first << ", " << pair.second << " cannot be drawn";
    }
    for (const auto& [pair, weight] : weights) {
        const double expected = draws * weight / all;
        const double count = seen.contains(pair) ? static_cast<double>(seen.at(pair)) : 0;
        distance += (count - expected) * (count - expected) / expected;
    }
    const double freedom = static_cast<double>(weights.size()) - 1;
    EXPECT_LT(distance, freedom + 5 * std::sqrt(2 * freedom) + 1);
}

std::vector<Graph> graphs() {
    std::vector<Graph> made;
    made.push_back(data::testing::random_graph(12, 30, false, true, 1));
    made.push_back(data::testing::random_graph(12, 20, true, true, 2));
    made.push_back(data::testing::random_graph(12, 14, true, false, 3));
    made.push_back(data::testing::random_graph(20, 9, false, false, 4));  // with isolated vertices
    return made;
}

// Seen in batches of one draw each, of which a pair of one vertex is that vertex alone.
std::map<Pair, std::int64_t> seen_of(const Graph& graph, const Sampling& sampling) {
    const Draws draws(graph, sampling);
    std::map<Pair, std::int64_t> seen;
    for (std::int64_t batch = 0; batch < 20'000; ++batch) {
        const std::vector<std::int32_t> vertices = draws.vertices(batch);
        ++seen[{vertices.front(), vertices.back()}];
    }
    return seen;
}

TEST(Draws, TakeNodesAsOftenAsEdgesBeginInThem) {
    for (const Graph& graph : graphs()) {
        std::map<Pair, double> weights;
        const auto dense = data::testing::dense_pattern(graph, false);
        for (std::int32_t u = 0; u < graph.vertices(); ++u) {
            for (std::int32_t v = 0; v < graph.vertices(); ++v)
                if (u != v && dense[at(u)][at(v)] != 0) weights[{u, u}] += 1;
        }
        expect_likely(weights, seen_of(graph, {.sampler = Sampler::node, .seed = 5}));
    }
}

TEST(Draws, TakeEdgesByTheDegreesOfBothEnds) {
    for (const Graph& graph : graphs()) {
        const auto dense = data::testing::dense_pattern(graph, false);
        std::map<std::int32_t, double> degree;
        std::map<Pair, double> listed;  // how often, whatever the direction; once in each of an undirected graph
        for (std::int32_t u = 0; u < graph.vertices(); ++u) {
            for (std::int32_t v = 0; v < graph.vertices(); ++v) {
                if (u == v || dense[at(u)][at(v)] == 0 || (graph.symmetric && v < u)) continue;
                ++degree[u], ++degree[v], ++listed[std::minmax(u, v)];
            }
        }
        std::map<Pair, double> weights;
        for (const auto& [pair, times] : listed)
            weights[pair] = times * (1 / degree.at(pair.first) + 1 / degree.at(pair.second));
        expect_likely(weights, seen_of(graph, {.sampler = Sampler::edge, .seed = 6}));
    }
}

TEST(Draws, WalkToNeighboursAlike) {
    for (const Graph& graph : graphs()) {
        const auto dense = data::testing::dense_pattern(graph, false);
        std::map<Pair, double> weights;
        for (std::int32_t u = 0; u < graph.vertices(); ++u) {
            std::vector<std::int32_t> targets;
            for (std::int32_t v = 0; v < graph.vertices(); ++v)
                if (u != v && dense[at(u)][at(v)] != 0) targets.push_back(v);
            if (targets.empty()) weights[{u, u}] += 1;
            for (const std::int32_t v : targets) weights[std::minmax(u, v)] += 1 / static_cast<double>(targets.size());
        }
        expect_likely(weights, seen_of(graph, {.sampler = Sampler::walk, .walk_length = 1, .seed = 7}));
    }
}

TEST(Draws, TakeDifferentClusters) {
    if (!data::has_partitioner()) GTEST_SKIP() << "this build has no METIS";
    const Graph graph = data::testing::random_graph(40, 100, true, true, 8);
    constexpr int parts = 5;
    const std::vector<std::int32_t> part = data::partition(graph, parts);
    const Draws draws(graph, {.sampler = Sampler::cluster, .budget = 2, .clusters = parts, .seed = 9});
    std::map<Pair, double> weights;
    for (std::int32_t a = 0; a < parts; ++a) {
        for (std::int32_t b = a + 1; b < parts; ++b) weights[{a, b}] = 1;
    }
    std::map<Pair, std::int64_t> seen;
    for (std::int64_t batch = 0; batch < 5'000; ++batch) {
        const std::vector<std::int32_t> vertices = draws.vertices(batch);
        std::map<std::int32_t, std::int64_t> of_part;
        for (const std::int32_t v : vertices) ++of_part[part[at(v)]];
        ASSERT_EQ(of_part.size(), 2U);
        for (const auto& [p, count] : of_part) EXPECT_EQ(count, std::ranges::count(part, p));
        ++seen[{of_part.begin()->first, of_part.rbegin()->first}];
    }
    expect_likely(weights, seen);
}

TEST(Draws, AreThoseOfTheirSeedAndBatch) {
    const Graph graph = data::testing::random_graph(200, 600, true, true, 10);
    const Sampling sampling{.sampler = Sampler::walk, .budget = 6, .walk_length = 3, .seed = 11};
    Sampling other = sampling;
    other.seed = 12;
    EXPECT_EQ(Draws(graph, sampling).vertices(3), Draws(graph, sampling).vertices(3));
    EXPECT_NE(Draws(graph, sampling).vertices(3), Draws(graph, sampling).vertices(4));
    EXPECT_NE(Draws(graph, sampling).vertices(3), Draws(graph, other).vertices(3));
    EXPECT_EQ(Draws(graph, sampling).drawn(), 24);
}

TEST(Draws, RefusePoolsThatCannotBe) {
    const Graph graph = data::testing::random_graph(10, 20, true, true, 13);
    const Graph empty = data::testing::random_graph(10, 0, true, true, 14);
    for (const Sampling& sampling : {
             Sampling{.sampler = Sampler::node, .budget = 0},
             Sampling{.sampler = Sampler::walk, .budget = 3, .walk_length = 0},
             Sampling{.sampler = Sampler::cluster, .budget = 3, .clusters = 2},
             Sampling{.sampler = Sampler::cluster, .budget = 1, .clusters = 11},
         })
        EXPECT_THROW(Draws(graph, sampling), Error);
    EXPECT_THROW(Draws(empty, {.sampler = Sampler::node, .budget = 3}), Error);
    EXPECT_THROW(Draws(empty, {.sampler = Sampler::edge, .budget = 3}), Error);
    EXPECT_EQ(Draws(empty, {.sampler = Sampler::walk, .budget = 1, .walk_length = 2}).vertices(0).size(), 1U);
}

}  // namespace
}  // namespace gnnplan::sample
