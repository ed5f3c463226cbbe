#include "runtime/blocks/graph_counts.hpp"

#include "runtime/blocks/block.hpp"
#include "runtime/blocks/scales.hpp"
#include "runtime/graph/partition.hpp"
#include "tests/runtime/graph/random_graphs.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

namespace gnnplan::data {
namespace {

// 1 where a matrix has a nonzero, of one part where the matrix is that of a part.
std::vector<std::vector<std::int64_t>> dense_pattern(const Graph& graph, MatrixId which, const VertexOrder& order) {
    const auto n = static_cast<std::size_t>(graph.vertices());
    const Csr& matrix = graph.matrix(which);
    std::vector<std::vector<std::int64_t>> dense(n, std::vector<std::int64_t>(n, 0));
    for (std::size_t v = 0; v < n; ++v) {
        for (std::int64_t k = matrix.row_start[v]; k < matrix.row_start[v + 1]; ++k) {
            const auto e = static_cast<std::size_t>(k);
            const bool here = which.part == MatrixId::all_parts || order.cut->of(which)[e] == which.part;
            dense[v][static_cast<std::size_t>(matrix.column[e])] = here ? 1 : 0;
        }
    }
    return dense;
}

// Every row range and column range of both directions against the dense matrix in that order.
void expect_exact(const GraphStats& counts, const Graph& graph, const VertexOrder& order,
                  int part = MatrixId::all_parts) {
    const std::int64_t n = graph.vertices();
    const auto vertex = [&](std::int64_t i) {
        return static_cast<std::size_t>(order.identity() ? i : order.vertex[static_cast<std::size_t>(i)]);
    };
    for (const bool transposed : {false, true}) {
        const MatrixId which = part_of(MatrixId(transposed), part);
        const auto dense = dense_pattern(graph, which, order);
        for (std::int64_t r0 = 0; r0 <= n; ++r0) {
            std::vector<std::int64_t> column(static_cast<std::size_t>(n), 0);  // nonzeros in rows r0 .. r1 - 1
            for (std::int64_t r1 = r0; r1 <= n; ++r1) {
                for (std::int64_t c0 = 0; c0 <= n; ++c0) {
                    std::int64_t nonzeros = 0;
                    std::int64_t distinct = 0;
                    for (std::int64_t c1 = c0; c1 <= n; ++c1) {
                        ASSERT_EQ(counts.block_nonzeros(which, {r0, r1}, {c0, c1}), nonzeros);
                        ASSERT_EQ(counts.distinct_columns(which, {r0, r1}, {c0, c1}), distinct);
                        if (c1 == n) break;
                        nonzeros += column[static_cast<std::size_t>(c1)];
                        distinct += column[static_cast<std::size_t>(c1)] > 0 ? 1 : 0;
                    }
                }
                ASSERT_EQ(counts.row_nonzeros(which, {r0, r1}), std::accumulate(column.begin(), column.end(), 0L));
                for (std::int64_t c = 0; r1 < n && c < n; ++c) {
                    column[static_cast<std::size_t>(c)] += dense[vertex(r1)][vertex(c)];
                }
            }
        }
    }
}

// Whether the ranges ascend, follow each other, come back or are empty.
TEST(GraphCounts, OfSeveralRangesAreThoseOfEach) {
    for (const Graph& graph : testing::small_graphs()) {
        const std::int64_t n = graph.vertices();
        const std::vector<Range> columns = {{0, n / 4}, {n / 4, n / 2}, {n / 2, n / 2}, {n / 2 + 1, n}, {1, n}, {0, n}};
        for (const Numbering& numbering : {Numbering{}, Numbering{.permuted = true, .seed = 3}}) {
            const auto counts = GraphCounts(graph, {}).numbered(numbering);
            for (const Range rows : {Range{0, n}, Range{n / 3, n}, Range{n / 2, n / 2}}) {
                const auto nonzeros = counts->block_nonzeros_of(forward_matrix, rows, columns);
                const auto distinct = counts->distinct_columns_of(forward_matrix, rows, columns);
                for (std::size_t i = 0; i < columns.size(); ++i) {
                    EXPECT_EQ(nonzeros.at(i), counts->block_nonzeros(forward_matrix, rows, columns[i]));
                    EXPECT_EQ(distinct.at(i), counts->distinct_columns(forward_matrix, rows, columns[i]));
                }
            }
        }
    }
}

TEST(GraphCounts, AreThoseOfTheMatrixInEveryNumbering) {
    const std::vector<Numbering> numberings = {
        {}, {.permuted = true, .seed = 3}, {.loss_layers = 2}, {.loss_layers = 1, .permuted = true, .seed = 9}};
    for (const Graph& graph : testing::small_graphs()) {
        const auto subset = testing::third_trains(graph);
        const GraphCounts counts(graph, subset);
        EXPECT_TRUE(counts.exact());
        EXPECT_EQ(counts.loss_rows(3), loss_row_counts(graph, subset, 3));
        EXPECT_EQ(GraphCounts(graph).loss_rows(2), std::vector<std::int64_t>(3, graph.vertices()));
        for (const Numbering& numbering : numberings) {
            const auto numbered = counts.numbered(numbering);
            const VertexOrder order = make_order(graph, subset, numbering);
            expect_exact(*numbered, graph, order);
            EXPECT_EQ(dynamic_cast<const GraphCounts&>(*numbered).order().vertex, order.vertex);
            EXPECT_EQ(numbered->vertices(), graph.vertices());
            EXPECT_EQ(numbered->nonzeros(), graph.nonzeros());
            EXPECT_EQ(numbered->loss_rows(2), counts.loss_rows(2)) << "sizes do not depend on the numbering";
        }
    }
}

// Rows that hold anything beside self loops are few; some ranges of rows are short beside the file, and others are not.
TEST(GraphCounts, OfSparseGraphs) {
    for (const bool self_loops : {true, false}) {
        for (const int edges : {2, 30}) {
            const Graph graph = testing::random_graph(24, edges, false, self_loops, 8);
            const GraphCounts counts(graph);
            expect_exact(counts, graph, {});
            const Numbering permuted{.permuted = true, .seed = 5};
            expect_exact(*counts.numbered(permuted), graph, make_order(graph, {}, permuted));
        }
    }
}

TEST(GraphCounts, KeepNumberingsWhereAsked) {
    const Graph graph = testing::random_graph(9, 20, false, true, 1);
    GraphCounts counts(graph);
    const Numbering permuted{.permuted = true, .seed = 3};
    EXPECT_NE(counts.numbered(permuted), counts.numbered(permuted));
    counts.keep_numbered();
    const auto first = counts.numbered(permuted);
    EXPECT_EQ(counts.numbered(permuted), first);
    EXPECT_EQ(GraphCounts(counts).numbered(permuted), first) << "copies keep them, too";
    for (std::uint64_t seed = 4; seed < 8; ++seed) counts.numbered({.permuted = true, .seed = seed});
    EXPECT_NE(counts.numbered(permuted), first) << "after four others it is let go";
    expect_exact(*first, graph, make_order(graph, {}, permuted));
}

TEST(GraphCounts, ANumberingIsRelativeToTheFile) {
    const Graph graph = testing::random_graph(9, 20, false, true, 1);
    const auto once = GraphCounts(graph).numbered({.permuted = true, .seed = 1});
    expect_exact(*once->numbered({.permuted = true, .seed = 1}), graph,
                 make_order(graph, {}, {.permuted = true, .seed = 1}));
    expect_exact(*once->numbered({}), graph, {});
}

TEST(GraphCounts, OfParts) {
    if (!has_partitioner()) GTEST_SKIP() << "built without METIS";
    const Graph graph = testing::random_graph(12, 30, false, true, 4);
    expect_exact(*GraphCounts(graph).numbered({.parts = 3}), graph, make_order(graph, {}, {.parts = 3}));
}

void expect_exact_parts(const Graph& graph, const Numbering& numbering) {
    const auto counts = GraphCounts(graph).numbered(numbering);
    const VertexOrder order = make_order(graph, {}, numbering);
    expect_exact(*counts, graph, order);
    for (int part = 0; part < numbering.parts; ++part) expect_exact(*counts, graph, order, part);
}

TEST(GraphCounts, OfThePartsOfACut) {
    for (const CutRule rule : {CutRule::libra, CutRule::seeded, CutRule::cover}) {
        if (rule != CutRule::libra && !has_partitioner()) continue;
        for (const bool symmetrise : {false, true}) {
            for (const bool self_loops : {false, true}) {
                expect_exact_parts(testing::random_graph(12, 30, symmetrise, self_loops, 4),
                                   {.parts = 3, .seed = 1, .cut = rule});
            }
        }
    }
}

// Rows that hold anything beside self loops are few.
TEST(GraphCounts, OfThePartsOfASparseGraph) {
    expect_exact_parts(testing::random_graph(24, 2, false, true, 8), {.parts = 4, .seed = 1, .cut = CutRule::libra});
}

// Blocks of parts, and how products come back to their rows, add up to those of the matrix.
TEST(GraphCounts, BlocksOfPartsMakeTheMatrix) {
    const Graph graph = testing::random_graph(40, 200, false, true, 3);
    const Numbering numbering{.parts = 4, .seed = 1, .cut = CutRule::libra};
    const auto counts = GraphCounts(graph).numbered(numbering);
    const VertexOrder order = make_order(graph, {}, numbering);
    const DegreeScales none;
    for (const MatrixId matrix : {forward_matrix, backward_matrix}) {
        std::int64_t nonzeros = 0;
        for (int part = 0; part < numbering.parts; ++part) {
            const MatrixId of_part = part_of(matrix, part);
            const Range rows{5, 33}, columns{2, 31};
            const LocalBlock block = build_block(graph, of_part, rows, columns, none, &order, {.values = false});
            EXPECT_EQ(block.nonzeros(), counts->block_nonzeros(of_part, rows, columns));
            EXPECT_EQ(block_nonzeros(graph, of_part, rows, columns, &order), block.nonzeros());
            EXPECT_EQ(distinct_columns(graph, of_part, rows, columns, &order),
                      counts->distinct_columns(of_part, rows, columns));
            EXPECT_EQ(counts->reuse(of_part, rows, columns, 0).first_uses,
                      static_cast<double>(counts->distinct_columns(of_part, rows, columns)));
            nonzeros += block.nonzeros();
        }
        EXPECT_EQ(nonzeros, counts->block_nonzeros(matrix, {5, 33}, {2, 31}));
    }
}

TEST(GraphCounts, ThreadsMayShareThem) {
    const Graph graph = testing::random_graph(9, 20, false, true, 1);
    const GraphCounts counts(graph);
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) threads.emplace_back([copy = counts, &graph] { expect_exact(copy, graph, {}); });
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace gnnplan::data
