#include "runtime/graph/csr.hpp"

#include "runtime/graph/fingerprint.hpp"

#include "tests/support/test_files.hpp"

namespace gnnplan::data {
namespace {

EdgeList edges_of(std::initializer_list<Edge> edges) {
    EdgeList list;
    for (const Edge e : edges) list.add(e.from, e.to);
    return list;
}

using Columns = kernels::LargeVector<std::int32_t>;
using Starts = std::vector<std::int64_t>;

TEST(BuildGraph, KeepsDirectionsApart) {
    PreparationCounts counts;
    const Graph graph = build_graph(edges_of({{2, 0}, {0, 1}, {0, 2}, {1, 2}}), 4, {false, false}, counts);
    EXPECT_FALSE(graph.symmetric);
    EXPECT_TRUE(counts.directed);
    EXPECT_EQ(graph.out.row_start, (Starts{0, 2, 3, 4, 4}));
    EXPECT_EQ(graph.out.column, (Columns{1, 2, 2, 0}));
    EXPECT_EQ(graph.in.row_start, (Starts{0, 1, 2, 4, 4}));
    EXPECT_EQ(graph.in.column, (Columns{2, 0, 0, 1}));
    EXPECT_EQ(&graph.matrix(forward_matrix), &graph.in);
}

TEST(BuildGraph, DropsDuplicatesAndSelfLoopsThenAddsOnePerVertex) {
    PreparationCounts counts;
    const Graph graph = build_graph(edges_of({{0, 1}, {1, 1}, {0, 1}, {1, 1}, {0, 1}}), 3, {false, true}, counts);
    EXPECT_EQ(counts.self_loops_dropped, 2);
    EXPECT_EQ(counts.duplicates_dropped, 2);
    EXPECT_EQ(graph.out.column, (Columns{0, 1, 1, 2}));
    EXPECT_EQ(graph.in.column, (Columns{0, 0, 1, 2}));
}

TEST(BuildGraph, SymmetrisesWithoutCountingReversesAsDuplicates) {
    PreparationCounts counts;
    const Graph graph = build_graph(edges_of({{0, 1}, {1, 0}, {2, 1}}), 3, {true, true}, counts);
    EXPECT_EQ(counts.duplicates_dropped, 0);
    EXPECT_TRUE(counts.directed);
    EXPECT_TRUE(graph.symmetric);
    EXPECT_EQ(graph.in.vertices, 0);
    EXPECT_EQ(&graph.matrix(forward_matrix), &graph.out);
    EXPECT_EQ(graph.out.row_start, (Starts{0, 2, 5, 7}));
    EXPECT_EQ(graph.out.column, (Columns{0, 1, 0, 1, 2, 1, 2}));
}

TEST(BuildGraph, DetectsSymmetry) {
    PreparationCounts counts;
    const Graph graph = build_graph(edges_of({{0, 1}, {2, 1}, {1, 0}, {1, 2}}), 3, {false, true}, counts);
    EXPECT_FALSE(counts.directed);
    EXPECT_TRUE(graph.symmetric);
    EXPECT_EQ(graph.nonzeros(), 7);
}

struct WeightedEdge {
    std::int32_t from, to;
    float weight;
};

EdgeList weighted_edges(std::initializer_list<WeightedEdge> edges) {
    EdgeList list(true);
    for (const WeightedEdge& e : edges) list.add(e.from, e.to, e.weight);
    return list;
}

TEST(EdgeList, TakesManyAtATime) {
    constexpr std::size_t count = EdgeList::block_edges * 2 + 3;
    std::vector<Edge> edges;
    std::vector<float> weights;
    for (std::size_t i = 0; i < count; ++i) {
        edges.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(2 * i)});
        weights.push_back(static_cast<float>(i) / 2);
    }
    for (const bool weighted : {false, true}) {
        EdgeList list(weighted);
        for (const std::size_t part : {std::size_t{5}, EdgeList::block_edges, std::size_t{0}, count}) {
            const auto first = static_cast<std::size_t>(list.size());
            const std::size_t end = std::min(count, first + part);
            list.add(std::span(edges).subspan(first, end - first),
                     weighted ? std::span(weights).subspan(first, end - first) : std::span<const float>());
        }
        std::size_t i = 0;
        list.drain([&](Edge edge, float weight) {
            EXPECT_EQ(edge, edges[i]);
            EXPECT_EQ(weight, weighted ? weights[i] : 1.0F);
            ++i;
        });
        EXPECT_EQ(i, count);
    }
}

using Weights = kernels::LargeVector<float>;
constexpr Preparation keep_weights{false, false, true};

TEST(BuildGraphWithWeights, BothDirectionsHaveThem) {
    PreparationCounts counts;
    const Graph graph = build_graph(weighted_edges({{2, 0, 3}, {0, 2, 0.5F}, {0, 1, -1}}), 3, keep_weights, counts);
    EXPECT_EQ(graph.out.column, (Columns{1, 2, 0}));
    EXPECT_EQ(graph.out.weight, (Weights{-1, 0.5F, 3}));
    EXPECT_EQ(graph.in.column, (Columns{2, 0, 0}));
    EXPECT_EQ(graph.in.weight, (Weights{3, -1, 0.5F}));
    EXPECT_TRUE(graph.weighted);
}

TEST(BuildGraphWithWeights, DuplicatesAreAddedUpAndListedLoopsDropped) {
    PreparationCounts counts;
    const Graph graph = build_graph(weighted_edges({{0, 1, 2}, {1, 1, 9}, {0, 1, 0.25F}, {0, 0, 9}, {0, 1, -1}}), 2,
                                    {false, true, true}, counts);
    EXPECT_EQ(counts.duplicates_dropped, 2);
    EXPECT_EQ(counts.self_loops_dropped, 2);
    EXPECT_EQ(graph.out.column, (Columns{0, 1, 1}));
    EXPECT_EQ(graph.out.weight, (Weights{1, 1.25F, 1}));
    EXPECT_EQ(graph.in.weight, (Weights{1, 1.25F, 1}));
}

TEST(BuildGraphWithWeights, SymmetryIsOfTheWeightsToo) {
    PreparationCounts counts;
    // The sum of the duplicates does not depend on their order.
    const Graph symmetric = build_graph(
        weighted_edges({{0, 1, 0.1F}, {0, 1, 1e7F}, {0, 1, 0.3F}, {1, 0, 1e7F}, {1, 0, 0.3F}, {1, 0, 0.1F}}), 2,
        keep_weights, counts);
    EXPECT_TRUE(symmetric.symmetric);
    EXPECT_FALSE(counts.directed);
    const Graph directed = build_graph(weighted_edges({{0, 1, 1}, {1, 0, 2}}), 2, keep_weights, counts);
    EXPECT_FALSE(directed.symmetric);
    EXPECT_TRUE(counts.directed);
    EXPECT_TRUE(counts.weights_only);
    EXPECT_FALSE(counts.one_way);
    EXPECT_EQ(directed.out.weight, (Weights{1, 2}));
    EXPECT_EQ(directed.in.weight, (Weights{2, 1}));
    const Graph unweighted = build_graph(weighted_edges({{0, 1, 1}, {1, 0, 2}}), 2, {false, false}, counts);
    EXPECT_TRUE(unweighted.symmetric);
    EXPECT_TRUE(unweighted.out.weight.empty());
}

TEST(BuildGraphWithWeights, SymmetrisedEdgesKeepTheirWeightOrGetTheMean) {
    PreparationCounts counts;
    const Graph graph = build_graph(weighted_edges({{0, 1, 4}, {1, 0, 4}, {1, 2, 3}, {3, 0, 1}, {0, 3, 2}}), 4,
                                    {true, true, true}, counts);
    EXPECT_TRUE(graph.symmetric);
    EXPECT_EQ(graph.out.column, (Columns{0, 1, 3, 0, 1, 2, 1, 2, 0, 3}));
    EXPECT_EQ(graph.out.weight, (Weights{1, 4, 1.5F, 4, 1, 3, 3, 1, 1.5F, 1}));
}

TEST(BuildGraphWithWeights, FingerprintsTellWeightsApart) {
    PreparationCounts counts;
    const auto of = [&](float weight, const Preparation& preparation) {
        return fingerprint(build_graph(weighted_edges({{0, 1, 1}, {1, 2, weight}}), 3, preparation, counts));
    };
    EXPECT_EQ(of(2, keep_weights), of(2, keep_weights));
    EXPECT_NE(of(2, keep_weights), of(3, keep_weights));
    EXPECT_EQ(of(2, {false, false}), of(3, {false, false}));
}

TEST(BuildGraph, ManyBlocksOfEdges) {
    EdgeList edges;
    constexpr std::int32_t n = 1000;
    for (std::int32_t k = 1; k <= 150; ++k) {
        for (std::int32_t u = 0; u < n; ++u) edges.add(u, (u + k) % n);
    }
    EXPECT_EQ(edges.size(), 150000);
    PreparationCounts counts;
    const Graph graph = build_graph(std::move(edges), n, {false, false}, counts);
    EXPECT_EQ(graph.nonzeros(), 150000);
    for (std::int32_t u = 0; u < n; ++u) ASSERT_EQ(graph.out.degree(u), 150);
    EXPECT_EQ(transpose(graph.in), graph.out);
}

TEST(BuildGraph, VerticesWithoutEdges) {
    PreparationCounts counts;
    EXPECT_EQ(build_graph({}, 3, {false, false}, counts).nonzeros(), 0);
    EXPECT_EQ(build_graph({}, 3, {false, true}, counts).nonzeros(), 3);
    files::expect_error(ErrorCode::data, {"no vertices"}, [&] { build_graph({}, 0, {}, counts); });
}

TEST(BuildGraph, RefusesAbsurdNumbersOfVertices) {
    PreparationCounts counts;
    files::expect_error(ErrorCode::data, {"at most 2^31 - 1"},
                        [&] { build_graph({}, std::int64_t{1} << 31, {}, counts); });
    files::expect_error(ErrorCode::data, {"only 1 edges"}, [&] {
        build_graph(edges_of({{0, 1}}), 2000000000, {}, counts);
    });
}

TEST(Fingerprint, FollowsTheStructure) {
    PreparationCounts counts;
    const auto of = [&](std::initializer_list<Edge> edges, std::int64_t n) {
        return fingerprint(build_graph(edges_of(edges), n, {false, false}, counts));
    };
    const std::string base = of({{0, 1}, {1, 2}}, 3);
    EXPECT_THAT(base, testing::MatchesRegex("xxh3:[0-9a-f]{16}"));
    EXPECT_EQ(base, of({{1, 2}, {0, 1}, {0, 1}}, 3));
    EXPECT_NE(base, of({{0, 1}, {2, 1}}, 3));
    EXPECT_NE(base, of({{0, 1}, {1, 2}}, 4));
}

}  // namespace
}  // namespace gnnplan::data
