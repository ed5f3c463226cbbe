// Clones of vertices in the parts of a cut.
#include "runtime/graph/clones.hpp"

#include "tests/runtime/graph/random_graphs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace gnnplan::data {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

void check_clones(const Graph& graph, int groups, CloneLoss loss, const std::optional<int>& delay = {}) {
    const Cut parts = cut(graph, CutRule::libra, groups, 1);
    const Clones clones = clones_of(graph, parts, {groups, loss, delay});
    ASSERT_EQ(std::ssize(clones.first), groups + 1);
    const std::int64_t count = clones.first.back();
    ASSERT_EQ(std::ssize(clones.vertices.vertex), count);
    ASSERT_EQ(std::ssize(clones.counts_as), count);
    std::vector<double> counted(at(graph.vertices()), 0);
    for (std::int64_t i = 0; i < count; ++i)
        counted[at(clones.vertices.vertex_at(i))] += static_cast<double>(clones.counts_as[at(i)]);
    for (const double all : counted) EXPECT_NEAR(all, 1, 1e-6) << "a vertex counts once";
    const Csr& matrix = graph.matrix(forward_matrix);
    const Csr& cloned = clones.graph.matrix(forward_matrix);
    std::vector<std::int64_t> seen(at(matrix.nonzeros()), 0);
    for (int p = 0; p < groups; ++p) {
        const auto begin = clones.vertices.vertex.begin() + clones.first[at(p)];
        const auto end = clones.vertices.vertex.begin() + clones.first[at(p) + 1];
        EXPECT_TRUE(std::is_sorted(begin, end));
        for (std::int64_t row = clones.first[at(p)]; row < clones.first[at(p) + 1]; ++row) {
            const std::int64_t v = clones.vertices.vertex_at(row);
            EXPECT_TRUE(std::is_sorted(cloned.column.begin() + cloned.row_start[at(row)],
                                       cloned.column.begin() + cloned.row_start[at(row) + 1]));
            for (std::int64_t e = cloned.row_start[at(row)]; e < cloned.row_start[at(row) + 1]; ++e) {
                const std::int64_t column = cloned.column[at(e)];
                ASSERT_GE(column, clones.first[at(p)]);
                ASSERT_LT(column, clones.first[at(p) + 1]) << "an edge between groups";
                const auto first = matrix.column.begin() + matrix.row_start[at(v)];
                const auto last = matrix.column.begin() + matrix.row_start[at(v) + 1];
                const auto found = std::find(first, last, clones.vertices.vertex_at(column));
                ASSERT_NE(found, last) << "no such edge";
                ++seen[at(found - matrix.column.begin())];
            }
        }
    }
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
        const auto replicas = std::count(clones.vertices.vertex.begin(), clones.vertices.vertex.end(), v);
        EXPECT_GE(replicas, 1);
        for (std::int64_t e = matrix.row_start[at(v)]; e < matrix.row_start[at(v) + 1]; ++e)
            EXPECT_EQ(seen[at(e)], matrix.column[at(e)] == v && delay != 0 ? replicas : 1);
    }
}

TEST(Clones, HaveEachEdgeOnceAndCountOnce) {
    for (const bool symmetric : {true, false}) {
        for (const CloneLoss loss : {CloneLoss::shares, CloneLoss::owners}) {
            check_clones(testing::random_graph(40, 3, symmetric, true, 5), 3, loss);
            check_clones(testing::random_graph(9, 2, symmetric, true, 6), 12, loss);
            check_clones(testing::random_graph(30, 1, symmetric, false, 7), 4, loss);
        }
    }
}

TEST(Clones, HaveALoopWithTheOwnerWhereTheyGetWholeSums) {
    for (const bool symmetric : {true, false})
        check_clones(testing::random_graph(40, 3, symmetric, true, 5), 3, CloneLoss::owners, 0);
}

// Bins have as many vertices as others or one more, and an owner knows how many of its vertices others have.
TEST(Clones, TakeTurns) {
    const Graph graph = testing::random_graph(60, 3, false, true, 8);
    constexpr int groups = 4, delay = 3;
    const Cut parts = cut(graph, CutRule::libra, groups, 1);
    const Clones clones = clones_of(graph, parts, {groups, CloneLoss::owners, delay});
    std::vector<std::int64_t> of_bin(delay, 0), split_of(groups, 0);
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
        std::vector<std::int32_t> bins;
        for (std::size_t c = 0; c < clones.bin.size(); ++c) {
            if (clones.vertices.vertex[c] != v) continue;
            bins.push_back(clones.bin[c]);
            EXPECT_EQ(clones.owner[c], parts.owner[at(v)]);
        }
        for (const std::int32_t bin : bins) EXPECT_EQ(bin, bins.size() > 1 ? bins.front() : -1);
        if (bins.size() < 2) continue;
        ++of_bin[at(bins.front())], ++split_of[at(parts.owner[at(v)])];
    }
    EXPECT_LE(std::ranges::max(of_bin) - std::ranges::min(of_bin), 1);
    for (int owner = 0; owner < groups; ++owner) {
        std::int64_t owned = 0, of_others = 0, elsewhere = 0;
        for (int bin = 0; bin < delay; ++bin) {
            owned += clones.shared_clones(owner, owner, bin);
            for (int p = 0; p < groups; ++p) of_others += p == owner ? 0 : clones.shared_clones(p, owner, bin);
        }
        for (std::size_t c = 0; c < clones.bin.size(); ++c) {
            const bool mine = static_cast<std::int64_t>(c) >= clones.first[at(owner)] &&
                              static_cast<std::int64_t>(c) < clones.first[at(owner) + 1];
            elsewhere += clones.owner[c] == owner && !mine ? 1 : 0;
        }
        EXPECT_EQ(owned, split_of[at(owner)]);
        EXPECT_EQ(of_others, elsewhere);
    }
}

}  // namespace
}  // namespace gnnplan::data
