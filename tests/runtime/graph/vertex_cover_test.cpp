#include "runtime/graph/vertex_cover.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

namespace gnnplan::data {
namespace {

int size_of(const VertexCover& cover) {
    return static_cast<int>(std::ranges::count(cover.left, true) + std::ranges::count(cover.right, true));
}

void expect_covered(const Bipartite& graph, const VertexCover& cover) {
    ASSERT_EQ(cover.left.size(), static_cast<std::size_t>(graph.left));
    ASSERT_EQ(cover.right.size(), static_cast<std::size_t>(graph.right));
    for (const auto& [l, r] : graph.edges) {
        EXPECT_TRUE(cover.left[static_cast<std::size_t>(l)] || cover.right[static_cast<std::size_t>(r)]);
    }
}

// Tries every set of left vertices: the right ones that the others meet complete it.
int smallest_size(const Bipartite& graph) {
    int least = graph.left + graph.right;
    for (unsigned taken = 0; taken < 1U << graph.left; ++taken) {
        unsigned right = 0;
        for (const auto& [l, r] : graph.edges) {
            if ((taken >> l & 1U) == 0) right |= 1U << r;
        }
        least = std::min(least, std::popcount(taken) + std::popcount(right));
    }
    return least;
}

TEST(VertexCover, IsTheSmallest) {
    std::mt19937 draw(7);
    for (int run = 0; run < 400; ++run) {
        Bipartite graph;
        graph.left = 1 + static_cast<std::int32_t>(draw() % 9);
        graph.right = 1 + static_cast<std::int32_t>(draw() % 9);
        for (std::int32_t l = 0; l < graph.left; ++l) {
            for (std::int32_t r = 0; r < graph.right; ++r) {
                if (draw() % 4 == 0) graph.edges.emplace_back(l, r);
            }
        }
        std::ranges::shuffle(graph.edges, draw);
        const VertexCover cover = smallest_vertex_cover(graph);
        expect_covered(graph, cover);
        EXPECT_EQ(size_of(cover), smallest_size(graph)) << "run " << run;
    }
}

TEST(VertexCover, OfAStarIsItsCentre) {
    Bipartite graph{1, 1000, {}};
    for (std::int32_t r = 0; r < 1000; ++r) graph.edges.emplace_back(0, r);
    const VertexCover cover = smallest_vertex_cover(graph);
    EXPECT_TRUE(cover.left[0]);
    EXPECT_EQ(size_of(cover), 1);
}

TEST(VertexCover, OfNoEdgesIsEmpty) {
    EXPECT_EQ(size_of(smallest_vertex_cover({})), 0);
    EXPECT_EQ(size_of(smallest_vertex_cover({3, 4, {}})), 0);
}

// A path whose greedy matching is augmented from one end to the other: no recursion may be that deep.
TEST(VertexCover, OfALongPathIsEverySecondVertex) {
    constexpr std::int32_t length = 200'000;
    Bipartite graph{length, length, {}};
    for (std::int32_t i = 0; i < length; ++i) {
        graph.edges.emplace_back(i, i);
        if (i + 1 < length) graph.edges.emplace_back(i + 1, i);
    }
    const VertexCover cover = smallest_vertex_cover(graph);
    expect_covered(graph, cover);
    EXPECT_EQ(size_of(cover), length);
}

}  // namespace
}  // namespace gnnplan::data
