#include "runtime/graph/cut.hpp"

#include "runtime/generate/generate.hpp"
#include "runtime/graph/cut_owners.hpp"
#include "runtime/graph/partition.hpp"
#include "runtime/graph/stream_cut.hpp"
#include "tests/runtime/graph/random_graphs.hpp"

#include <gnnplan/base/at.hpp>
#include <gnnplan/base/range.hpp>

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace gnnplan::data {
namespace {

std::vector<CutRule> rules() {
    if (!has_partitioner()) return {CutRule::libra};
    return {CutRule::libra, CutRule::seeded, CutRule::cover};
}

Graph undirected(EdgeList edges, std::int64_t vertices, bool self_loops = true) {
    PreparationCounts counts;
    return build_graph(std::move(edges), vertices, {true, self_loops}, counts);
}

Graph star() {
    EdgeList list;
    for (std::int32_t v = 1; v < 50; ++v) list.add(0, v);
    return undirected(std::move(list), 50);
}

Graph two_hubs() {
    EdgeList list;
    for (std::int32_t v = 2; v < 60; ++v) {
        list.add(0, v);
        list.add(1, v);
    }
    return undirected(std::move(list), 60);
}

Graph clique() {
    EdgeList list;
    for (std::int32_t u = 0; u < 12; ++u) {
        for (std::int32_t v = 0; v < u; ++v) list.add(u, v);
    }
    return undirected(std::move(list), 12);
}

Graph path() {
    EdgeList list;
    for (std::int32_t v = 1; v < 31; ++v) list.add(v - 1, v);
    return undirected(std::move(list), 40, false);  // the last nine have no edges
}

std::vector<Graph> graphs() {
    std::vector<Graph> all = testing::small_graphs();
    all.push_back(testing::random_graph(101, 300, false, true, 8));
    all.push_back(testing::random_graph(64, 40, true, true, 9));
    for (auto* make : {star, two_hubs, clique, path}) all.push_back(make());
    all.push_back(undirected({}, 20));
    all.push_back(undirected({}, 20, false));
    return all;
}

// The part of the nonzero (row, column), of each matrix.
std::map<std::pair<std::int32_t, std::int32_t>, int> parts_of(const Csr& matrix, const std::vector<std::int16_t>& of) {
    std::map<std::pair<std::int32_t, std::int32_t>, int> parts;
    for (std::int32_t v = 0; v < matrix.rows(); ++v) {
        for (std::int64_t k = matrix.row_start[at(v)]; k < matrix.row_start[at(v) + 1]; ++k)
            parts[{v, matrix.column[at(k)]}] = of[at(k)];
    }
    return parts;
}

void expect_a_cut(const Graph& graph, const Cut& found, int parts) {
    ASSERT_EQ(std::ssize(found.owner), graph.vertices());
    ASSERT_EQ(std::ssize(found.out), graph.out.nonzeros());
    ASSERT_EQ(std::ssize(found.in), graph.symmetric ? 0 : graph.in.nonzeros());
    std::vector<std::int64_t> sizes(at(parts), 0);
    for (const std::int32_t p : found.owner) ++sizes.at(at(p));
    for (int p = 0; p < parts; ++p)
        EXPECT_EQ(sizes[at(p)], balanced_block({0, graph.vertices()}, p, parts).size()) << "owned by part " << p;
    const auto out = parts_of(graph.out, found.out);
    for (const auto& [edge, part] : out) {
        ASSERT_GE(part, 0);
        ASSERT_LT(part, parts);
        if (edge.first == edge.second) {
            EXPECT_EQ(part, found.owner[at(edge.first)]);
        }
        const auto back = out.find({edge.second, edge.first});
        if (back != out.end()) {
            EXPECT_EQ(back->second, part) << "the other direction";
        }
    }
    if (graph.symmetric) return;
    for (const auto& [edge, part] : parts_of(graph.in, found.in)) EXPECT_EQ(part, out.at({edge.second, edge.first}));
}

TEST(Cut, DealsEveryEdgeOnceAndOwnsBlocks) {
    for (const Graph& graph : graphs()) {
        for (const CutRule rule : rules()) {
            for (const int parts : {2, 3, 4, 7, 12, 65, 130}) {
                SCOPED_TRACE(std::to_string(graph.vertices()) + " vertices, rule " +
                             std::to_string(static_cast<int>(rule)) + ", " + std::to_string(parts) + " parts");
                const Cut found = cut(graph, rule, parts, 1);
                expect_a_cut(graph, found, parts);
                EXPECT_EQ(found, cut(graph, rule, parts, 1)) << "a function of its arguments";
            }
        }
    }
}

// Rows of other ranks that products need and rows of partial sums that they send, of a symmetric graph: two for each
// replica that is not the owner's.
std::int64_t rows_moved(const Graph& graph, const Cut& found) {
    std::set<std::pair<std::int32_t, int>> replicas;
    for (const auto& [edge, part] : parts_of(graph.out, found.out)) {
        if (part != found.owner[at(edge.first)]) replicas.insert({edge.first, part});
    }
    return 2 * std::ssize(replicas);
}

std::vector<std::int64_t> edges_of_parts(const Cut& found, int parts) {
    std::vector<std::int64_t> edges(at(parts), 0);
    for (const std::int16_t p : found.out) ++edges[at(p)];
    return edges;
}

Graph skewed() {
    RmatOptions options;
    options.vertices = 4000;
    options.nonzeros = 60'000;
    options.seed = 5;
    GeneratedGraph made = generate_rmat(options);
    return undirected(std::move(made.edges), made.vertices);
}

TEST(Cut, LibraBalancesEdgesOfASkewedGraph) {
    const Graph graph = skewed();
    for (const int parts : {4, 16}) {
        const Cut found = cut(graph, CutRule::libra, parts, 1);
        const std::vector<std::int64_t> edges = edges_of_parts(found, parts);
        const double mean = static_cast<double>(graph.nonzeros()) / parts;
        EXPECT_LE(static_cast<double>(*std::ranges::max_element(edges)), 1.05 * mean + 1) << parts;
    }
}

// A stream in the order of a connected graph's file never leaves the first part, unless parts are full at some number.
TEST(Cut, EdgesInFileOrderCollapseWithoutALimit) {
    EdgeList list;
    for (std::int32_t v = 1; v < 2000; ++v) list.add(v / 2, v);
    const Neighbours tree = neighbours_of(undirected(std::move(list), 2000));
    std::vector<std::int32_t> order(2000);
    std::iota(order.begin(), order.end(), 0);
    EdgeParts part(tree.vertex.size(), no_part);
    deal_edges(tree, order, 8, std::ssize(tree.vertex), part);
    EXPECT_EQ(std::set<std::int16_t>(part.begin(), part.end()).size(), 1U);
    part.assign(tree.vertex.size(), no_part);
    deal_edges(tree, order, 8, 263, part);
    EXPECT_EQ(std::ranges::count(part, std::int16_t{0}), 2 * 263);
}

// An end in the cover of the edges between two parts has them all in the other part.
TEST(Cut, ACoverMovesNoMoreThanNeededRows) {
    if (!has_partitioner()) GTEST_SKIP() << "built without METIS";
    for (const Graph& graph : {skewed(), star(), two_hubs(), path()}) {
        const int parts = 4;
        const Cut found = cut(graph, CutRule::cover, parts, 1);
        const std::vector<std::int32_t> part = partition(graph, parts);
        EXPECT_EQ(found.owner, part);
        std::set<std::pair<std::int32_t, std::int32_t>> needed;  // a vertex, and a part that has a neighbour
        for (const auto& [edge, of] : parts_of(graph.out, found.out)) {
            if (part[at(edge.first)] != part[at(edge.second)]) needed.insert({edge.first, part[at(edge.second)]});
        }
        EXPECT_LE(rows_moved(graph, found), std::ssize(needed));
    }
}

TEST(Cut, ACoverOfAStarMovesItsCentreAlone) {
    if (!has_partitioner()) GTEST_SKIP() << "built without METIS";
    const Graph graph = star();
    EXPECT_EQ(rows_moved(graph, cut(graph, CutRule::cover, 5, 1)), 2 * 4);
}

TEST(Cut, OwnersAreReplicasWhereTheseHaveRoom) {
    const Graph graph = clique();
    const Cut found = cut(graph, CutRule::libra, 3, 1);
    std::map<std::int32_t, std::set<int>> replicas;
    for (const auto& [edge, part] : parts_of(graph.out, found.out)) {
        if (edge.first != edge.second) replicas[edge.first].insert(part);
    }
    for (const auto& [vertex, parts] : replicas) EXPECT_TRUE(parts.contains(found.owner[at(vertex)])) << vertex;
}

}  // namespace
}  // namespace gnnplan::data
