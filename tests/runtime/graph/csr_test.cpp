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

using Columns = std::vector<std::int32_t>;
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
    EXPECT_EQ(&graph.matrix(true), &graph.in);
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
    EXPECT_EQ(&graph.matrix(true), &graph.out);
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
