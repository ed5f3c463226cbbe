#include "runtime/graph/order.hpp"

#include "runtime/graph/partition.hpp"
#include "tests/runtime/graph/random_graphs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace gnnplan::data {
namespace {

using testing::random_graph;
using testing::small_graphs;
using testing::third_trains;

using Vertices = std::set<std::int32_t>;

// N_0 .. N_L, by their definition.
std::vector<Vertices> needed_sets(const Graph& graph, const std::vector<std::uint8_t>& subset, int layers) {
    const auto forward = testing::dense_pattern(graph, true);
    std::vector<Vertices> sets(static_cast<std::size_t>(layers) + 1);
    for (std::size_t v = 0; v < forward.size(); ++v) {
        if (subset.empty() || subset[v] == 0) sets.back().insert(static_cast<std::int32_t>(v));
    }
    for (std::size_t l = sets.size() - 1; l > 0; --l) {
        sets[l - 1] = sets[l];
        for (const std::int32_t v : sets[l]) {
            for (std::size_t u = 0; u < forward.size(); ++u) {
                if (forward[static_cast<std::size_t>(v)][u] != 0) sets[l - 1].insert(static_cast<std::int32_t>(u));
            }
        }
    }
    return sets;
}

void expect_permutation(const VertexOrder& order, std::int64_t vertices) {
    ASSERT_EQ(std::ssize(order.vertex), vertices);
    ASSERT_EQ(std::ssize(order.position), vertices);
    for (std::size_t i = 0; i < order.vertex.size(); ++i) {
        ASSERT_EQ(order.position.at(static_cast<std::size_t>(order.vertex[i])), static_cast<std::int32_t>(i));
    }
    EXPECT_EQ(order.bytes(), 8 * vertices);
}

TEST(Order, WithoutANumberingIsThatOfTheFile) {
    const Graph graph = random_graph(9, 20, false, true, 1);
    const VertexOrder order = make_order(graph, {}, {});
    EXPECT_TRUE(order.identity());
    EXPECT_EQ(order.bytes(), 0);
    EXPECT_TRUE(make_order(graph, {}, {.parts = 1, .seed = 3}).identity()) << "one part is no partition";
}

TEST(Order, TheRowsOfEachLayerComeFirst) {
    for (const Graph& graph : small_graphs()) {
        for (const auto& subset : {std::vector<std::uint8_t>{}, third_trains(graph)}) {
            for (const int layers : {1, 2, 3, 5}) {
                for (const bool permuted : {false, true}) {
                    const auto sets = needed_sets(graph, subset, layers);
                    const auto counts = loss_row_counts(graph, subset, layers);
                    const VertexOrder order =
                        make_order(graph, subset, {.loss_layers = layers, .permuted = permuted, .seed = 5});
                    expect_permutation(order, graph.vertices());
                    ASSERT_EQ(counts.size(), sets.size());
                    for (std::size_t l = 0; l < sets.size(); ++l) {
                        ASSERT_EQ(counts[l], std::ssize(sets[l]));
                        EXPECT_EQ(Vertices(order.vertex.begin(), order.vertex.begin() + counts[l]), sets[l]);
                    }
                }
            }
        }
    }
}

TEST(Order, WithoutTrainingVerticesNothingIsNeeded) {
    const Graph graph = random_graph(6, 9, false, true, 1);
    const std::vector<std::uint8_t> subset(6, 2);
    EXPECT_EQ(loss_row_counts(graph, subset, 2), (std::vector<std::int64_t>{0, 0, 0}));
    expect_permutation(make_order(graph, subset, {.loss_layers = 2}), 6);
}

TEST(Order, GroupsKeepTheOrderOfTheFileUnlessShuffled) {
    const Graph graph = random_graph(40, 60, false, true, 7);
    const auto subset = third_trains(graph);
    const auto counts = loss_row_counts(graph, subset, 2);
    ASSERT_LT(counts[2], counts[1]) << "the graph has groups to tell apart";
    ASSERT_LT(counts[1], counts[0]);
    const VertexOrder kept = make_order(graph, subset, {.loss_layers = 2});
    const VertexOrder shuffled = make_order(graph, subset, {.loss_layers = 2, .permuted = true, .seed = 1});
    const auto ascends = [&](const VertexOrder& order, std::int64_t first, std::int64_t last) {
        return std::is_sorted(order.vertex.begin() + first, order.vertex.begin() + last);
    };
    EXPECT_TRUE(ascends(kept, 0, counts[2]));
    EXPECT_TRUE(ascends(kept, counts[2], counts[1]));
    EXPECT_TRUE(ascends(kept, counts[1], counts[0]));
    EXPECT_TRUE(ascends(kept, counts[0], 40));
    EXPECT_FALSE(ascends(shuffled, 0, counts[2]));
}

TEST(Order, ThePermutationIsAFunctionOfTheSeed) {
    const Graph graph = random_graph(50, 60, false, true, 7);
    const auto shuffled = [&](std::uint64_t seed) { return make_order(graph, {}, {.permuted = true, .seed = seed}); };
    expect_permutation(shuffled(1), 50);
    EXPECT_EQ(shuffled(1).vertex, shuffled(1).vertex);
    EXPECT_NE(shuffled(1).vertex, shuffled(2).vertex);
}

TEST(Order, EveryPermutationIsAsLikely) {
    const Graph graph = random_graph(3, 2, false, true, 7);
    std::map<std::vector<std::int32_t>, int> seen;
    for (std::uint64_t seed = 0; seed < 6000; ++seed)
        ++seen[make_order(graph, {}, {.permuted = true, .seed = seed}).vertex];
    ASSERT_EQ(seen.size(), 6U);
    // Six standard deviations of a binomial of 6000 draws of chance 1/6.
    for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 174);
}

TEST(Order, PartsAreBlocks) {
    if (!has_partitioner()) GTEST_SKIP() << "built without METIS";
    const Graph graph = random_graph(101, 300, false, true, 8);
    for (const int parts : {2, 3, 4, 7}) {
        const std::vector<std::int32_t> part = partition(graph, parts);
        const VertexOrder order = make_order(graph, {}, {.parts = parts});
        expect_permutation(order, 101);
        for (int p = 0; p < parts; ++p) {
            const Range block = balanced_block({0, 101}, p, parts);
            for (std::int64_t i = block.begin; i < block.end; ++i) {
                const auto v = static_cast<std::size_t>(order.vertex[static_cast<std::size_t>(i)]);
                ASSERT_EQ(part[v], p) << "position " << i;
            }
        }
    }
}

// Groups first, parts within them, shuffled within those.
TEST(Order, RulesApplyInTheirOrder) {
    if (!has_partitioner()) GTEST_SKIP() << "built without METIS";
    const Graph graph = random_graph(101, 200, true, true, 9);
    const auto subset = third_trains(graph);
    const auto counts = loss_row_counts(graph, subset, 1);
    const std::vector<std::int32_t> part = partition(graph, 3);
    const VertexOrder order = make_order(graph, subset, {.loss_layers = 1, .parts = 3, .permuted = true, .seed = 4});
    expect_permutation(order, 101);
    const auto group = [&](std::int64_t i) { return i < counts[1] ? 0 : i < counts[0] ? 1 : 2; };
    std::int64_t descents = 0;
    for (std::int64_t i = 1; i < 101; ++i) {
        const std::int32_t before = order.vertex[static_cast<std::size_t>(i - 1)];
        const std::int32_t here = order.vertex[static_cast<std::size_t>(i)];
        if (group(i) != group(i - 1)) continue;
        ASSERT_LE(part[static_cast<std::size_t>(before)], part[static_cast<std::size_t>(here)]);
        descents += here < before ? 1 : 0;
    }
    EXPECT_GT(descents, 20) << "not shuffled within parts";
}

}  // namespace
}  // namespace gnnplan::data
