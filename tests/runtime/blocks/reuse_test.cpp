#include "runtime/blocks/reuse.hpp"

#include "runtime/blocks/graph_counts.hpp"
#include "runtime/blocks/matrix_rows.hpp"
#include "runtime/generate/generate.hpp"
#include "tests/runtime/graph/random_graphs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace gnnplan::data {
namespace {

// A scan of one block alone.
ReuseHistogram reuse_histogram(const Graph& graph, MatrixId which, Range rows, Range columns,
                               std::int64_t panel_columns, const VertexOrder* order = nullptr) {
    return ReuseScan(graph, order).of(which, rows, columns, panel_columns);
}

// Counts of marked positions before a position (Fenwick 1994).
class Marks {
public:
    explicit Marks(std::size_t positions) : tree_(positions + 1, 0) {}
    void add(std::size_t at, int value) {
        for (++at; at < tree_.size(); at += at & (~at + 1)) tree_[at] += value;
    }
    int before(std::size_t at) const {
        int sum = 0;
        for (; at > 0; at -= at & (~at + 1)) sum += tree_[at];
        return sum;
    }

private:
    std::vector<int> tree_;
};

// Stack distances of a sequence of columns: the last use of each column is marked.
ReuseHistogram exact_distances(const std::vector<std::int32_t>& uses, std::int64_t columns) {
    ReuseHistogram histogram;
    Marks marks(uses.size());
    std::vector<std::size_t> next(static_cast<std::size_t>(columns), 0);  // after the last use; 0: none
    for (std::size_t t = 0; t < uses.size(); ++t) {
        std::size_t& last = next[static_cast<std::size_t>(uses[t])];
        if (last == 0) {
            ++histogram.first_uses;
        } else {
            const int others = marks.before(t) - marks.before(last);
            histogram.spread(1, others, others);
            marks.add(last - 1, -1);
        }
        marks.add(t, 1);
        last = t + 1;
    }
    histogram.most_distinct = histogram.first_uses;
    return histogram;
}

ReuseHistogram exact(const Graph& graph, bool transposed, Range rows, Range columns, std::int64_t panels,
                     const VertexOrder* order) {
    ReuseHistogram histogram;
    for (std::int64_t p = 0; p < panels; ++p) {
        MatrixRows reader(graph, MatrixId(transposed), balanced_block(columns, p, panels), order);
        std::vector<std::int32_t> uses;
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            for (const std::int32_t c : reader.any_order(i)) uses.push_back(c);
        }
        histogram.add(exact_distances(uses, graph.vertices()));
    }
    return histogram;
}

double total(const ReuseHistogram& histogram) {
    return std::accumulate(histogram.reuses.begin(), histogram.reuses.end(), histogram.first_uses);
}

// The largest difference between the shares of nonzeros that lie as far as each power of two, or farther.
double largest_difference(const ReuseHistogram& a, const ReuseHistogram& b) {
    const auto at = [](const ReuseHistogram& h, std::size_t i) { return i < h.reuses.size() ? h.reuses[i] : 0; };
    double worst = 0;
    double difference = 0;
    for (std::size_t i = std::max(a.reuses.size(), b.reuses.size()); i-- > 0;) {
        difference += at(a, i) - at(b, i);
        worst = std::max(worst, std::abs(difference));
    }
    return worst / total(b);
}

Graph rmat(std::int64_t vertices, std::int64_t nonzeros, bool relabel) {
    GeneratedGraph generated =
        generate_rmat({.vertices = vertices, .nonzeros = nonzeros, .seed = 1, .relabel = relabel});
    PreparationCounts counts;
    return build_graph(std::move(generated.edges), vertices, {true, true}, counts);
}

// A class after the other, nearly all edges within: rows come back soon.
Graph communities() {
    GeneratedGraph generated = generate_planted(
        {.vertices = 20'000, .nonzeros = 300'000, .classes = 20, .features = 1, .seed = 2, .relabel = false});
    PreparationCounts counts;
    return build_graph(std::move(generated.edges), 20'000, {true, true}, counts);
}

void expect_close(const Graph& graph, Range rows, Range columns, std::int64_t panels, double tolerance) {
    const std::int64_t panel_columns = (columns.size() + panels - 1) / panels;
    const ReuseHistogram found = reuse_histogram(graph, forward_matrix, rows, columns, panels == 1 ? 0 : panel_columns);
    const ReuseHistogram expected = exact(graph, true, rows, columns, panels, nullptr);
    EXPECT_NEAR(total(found), total(expected), 1e-6 * total(expected));
    EXPECT_EQ(found.first_uses, expected.first_uses);
    EXPECT_EQ(found.most_distinct, expected.most_distinct);
    EXPECT_LT(largest_difference(found, expected), tolerance);
}

TEST(Reuse, OfAPowerLawGraphIsThatOfItsStackDistances) {
    const Graph shuffled = rmat(1 << 14, 300'000, true);
    const Graph ordered = rmat(1 << 14, 300'000, false);
    const Range all{0, 1 << 14};
    for (const Graph* graph : {&shuffled, &ordered}) {
        expect_close(*graph, all, all, 1, 0.01);
        expect_close(*graph, all, all, 8, 0.02);
        expect_close(*graph, {1000, 9000}, {5000, 13'000}, 1, 0.01);
    }
}

TEST(Reuse, OfCommunitiesIsNearTheirStackDistances) {
    const Graph graph = communities();
    expect_close(graph, {0, 20'000}, {0, 20'000}, 1, 0.02);
    // A panel has two and a half classes: rows outside them use it as well, much more loosely.
    expect_close(graph, {0, 20'000}, {0, 20'000}, 8, 0.08);
}

TEST(Reuse, OfABandIsItsWidth) {
    EdgeList edges;
    const std::int32_t n = 4000;
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t d = 0; d < 10; ++d) edges.add(i, (i + 7 * d) % n);
    }
    PreparationCounts counts;
    const Graph graph = build_graph(std::move(edges), n, {false, false}, counts);
    expect_close(graph, {0, n}, {0, n}, 1, 0.05);
}

TEST(Reuse, OfRandomColumnsIsThatOfStatistics) {
    const std::int64_t n = 1 << 12;
    const Graph graph = testing::random_graph(n, 32 * n, false, false, 5);
    const ReuseHistogram found = reuse_histogram(graph, forward_matrix, {0, n}, {0, n}, 0);
    const ReuseHistogram expected = UniformStats(n, graph.nonzeros(), false).reuse(forward_matrix, {0, n}, {0, n}, 0);
    EXPECT_NEAR(total(found), total(expected), 1e-3 * total(expected));
    EXPECT_LT(largest_difference(found, expected), 0.005);
}

// Rows that have nonzeros in a panel, and how often rows with and without follow each other, at most as many as are of
// the rarer kind.
std::pair<double, double> walk(const GraphStats& graph, Range rows, Range panel) {
    std::int64_t visits = 0;
    std::int64_t begun = 0;  // runs of rows with nonzeros behind one without
    bool before = true;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        const bool has_some = graph.block_nonzeros(forward_matrix, {i, i + 1}, panel) > 0;
        visits += has_some ? 1 : 0;
        begun += has_some && !before ? 1 : 0;
        before = has_some;
    }
    const std::int64_t rarer = std::min(visits, rows.size() - visits);
    return {static_cast<double>(visits), static_cast<double>(std::min(2 * begun, rarer))};
}

TEST(Reuse, OfSmallGraphsAddsUpInEveryNumbering) {
    for (const Graph& graph : testing::small_graphs()) {
        const auto subset = testing::third_trains(graph);
        const std::int64_t n = graph.vertices();
        for (const Numbering& numbering : {Numbering{}, Numbering{.permuted = true, .seed = 3}}) {
            const auto counts = GraphCounts(graph, subset).numbered(numbering);
            for (const Range rows : {Range{0, n}, Range{n / 3, n}}) {
                for (const std::int64_t panel : {0, 1, 3}) {
                    const Range columns{n / 2, n};
                    const ReuseHistogram reuse = counts->reuse(forward_matrix, rows, columns, panel);
                    EXPECT_NEAR(total(reuse),
                                static_cast<double>(counts->block_nonzeros(forward_matrix, rows, columns)), 1e-9);
                    EXPECT_EQ(reuse.first_uses,
                              static_cast<double>(counts->distinct_columns(forward_matrix, rows, columns)));
                    double visits = 0;
                    double changes = 0;
                    const std::int64_t panels = panel == 0 ? 1 : (columns.size() + panel - 1) / panel;
                    for (std::int64_t p = 0; p < panels; ++p) {
                        const Range part = balanced_block(columns, p, panels);
                        const auto [visited, changed] = walk(*counts, rows, part);
                        visits += visited;
                        changes += changed;
                    }
                    EXPECT_EQ(reuse.row_sweeps, static_cast<double>(panels * rows.size()));
                    EXPECT_EQ(reuse.row_visits, visits);
                    EXPECT_EQ(reuse.row_changes, changes);
                    EXPECT_EQ(counts->reuse(forward_matrix, rows, columns, panel).reuses, reuse.reuses)
                        << "asked again";
                }
            }
        }
    }
}

bool same(const ReuseHistogram& a, const ReuseHistogram& b) {
    return a.reuses == b.reuses && a.between == b.between && a.first_uses == b.first_uses &&
           a.most_distinct == b.most_distinct && a.row_sweeps == b.row_sweeps && a.row_visits == b.row_visits &&
           a.row_changes == b.row_changes;
}

TEST(Reuse, OfABlockIsTheSameWhateverWasScannedBefore) {
    const Graph graph = rmat(1 << 11, 30'000, true);
    const std::int64_t n = graph.vertices();
    const auto shuffled = GraphCounts(graph).numbered({.permuted = true, .seed = 7});
    const auto& order = dynamic_cast<const GraphCounts&>(*shuffled).order();
    ReuseScan scan(graph, &order);
    for (const std::int64_t panel : {0, 1, 7, 300}) {
        for (const Range rows : {Range{0, n}, Range{5, 9}, Range{n / 3, n / 2}, Range{9, 9}}) {
            for (const Range columns : {Range{0, n}, Range{n / 2, n - 3}}) {
                const ReuseHistogram expected = reuse_histogram(graph, forward_matrix, rows, columns, panel, &order);
                EXPECT_TRUE(same(scan.of(forward_matrix, rows, columns, panel), expected))
                    << panel << " columns a panel, rows from " << rows.begin << ", columns from " << columns.begin;
            }
        }
    }
}

TEST(Reuse, FollowsTheNumbering) {
    const Graph ordered = communities();
    const GraphCounts counts(ordered);
    const Range all{0, ordered.vertices()};
    const auto shuffled = counts.numbered({.permuted = true, .seed = 7});
    const auto& order = dynamic_cast<const GraphCounts&>(*shuffled).order();
    EXPECT_LT(
        largest_difference(shuffled->reuse(forward_matrix, all, all, 0), exact(ordered, true, all, all, 1, &order)),
        0.01);
    EXPECT_GT(
        largest_difference(shuffled->reuse(forward_matrix, all, all, 0), counts.reuse(forward_matrix, all, all, 0)),
        0.5);
}

}  // namespace
}  // namespace gnnplan::data
