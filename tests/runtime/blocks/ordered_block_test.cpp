// Blocks cut in another order than that of the file, and what is done with blocks: sending, several at once,
// compacting.
#include "runtime/blocks/block.hpp"
#include "tests/runtime/graph/random_graphs.hpp"

#include <gnnplan/base/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

namespace gnnplan::data {
namespace {

using Dense = std::vector<std::vector<float>>;

// Checks that columns ascend on the way.
Dense dense_of(const kernels::Csr& csr) {
    Dense result(static_cast<std::size_t>(csr.rows), std::vector<float>(static_cast<std::size_t>(csr.columns), 0));
    for (std::int64_t i = 0; i < csr.rows; ++i) {
        for (std::int64_t k = csr.row_start[i]; k < csr.row_start[i + 1]; ++k) {
            EXPECT_TRUE(k == csr.row_start[i] || csr.column[k - 1] < csr.column[k]);
            result[static_cast<std::size_t>(i)].at(static_cast<std::size_t>(csr.column[k])) = csr.value[k];
        }
    }
    return result;
}

// Rows and columns of a dense matrix in file order, moved to their positions and cut.
Dense cut(const Dense& whole, const VertexOrder& order, Range rows, Range columns) {
    const auto vertex = [&](std::int64_t i) {
        return static_cast<std::size_t>(order.identity() ? i : order.vertex[static_cast<std::size_t>(i)]);
    };
    Dense result;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        result.emplace_back();
        for (std::int64_t j = columns.begin; j < columns.end; ++j) {
            result.back().push_back(whole[vertex(i)][vertex(j)]);
        }
    }
    return result;
}

std::int64_t filled_columns(const Dense& block) {
    std::int64_t count = 0;
    for (std::size_t j = 0; !block.empty() && j < block[0].size(); ++j) {
        count += std::any_of(block.begin(), block.end(), [&](const auto& row) { return row[j] != 0; }) ? 1 : 0;
    }
    return count;
}

std::int64_t filled(const Dense& block) {
    std::int64_t count = 0;
    for (const auto& row : block) count += std::ssize(row) - std::count(row.begin(), row.end(), 0.0F);
    return count;
}

std::vector<VertexOrder> orders_of(const Graph& graph) {
    const auto subset = testing::third_trains(graph);
    return {{},
            make_order(graph, subset, {.permuted = true, .seed = 1}),
            make_order(graph, subset, {.loss_layers = 2}),
            make_order(graph, subset, {.loss_layers = 1, .permuted = true, .seed = 2})};
}

// Every tile of every cut, both directions, all weightings: values, counts and distinct columns.
TEST(OrderedBlocks, EqualThePermutedMatrix) {
    std::vector<Graph> graphs = testing::small_graphs();
    for (Graph& graph : testing::small_weighted_graphs()) graphs.push_back(std::move(graph));
    for (const Graph& graph : graphs) {
        const Range all = {0, graph.vertices()};
        for (const auto how : {Normalisation::none, Normalisation::symmetric, Normalisation::row_mean}) {
            const DegreeScales scales = compute_scales(graph, how);
            for (const bool transposed : {false, true}) {
                const Dense whole = dense_of(build_block(graph, MatrixId(transposed), all, all, scales).view());
                for (const VertexOrder& order : orders_of(graph)) {
                    for (const std::int64_t p : {1, 2, 3, 12}) {
                        for (std::int64_t i = 0; i < p * p; ++i) {
                            const Range rows = balanced_block(all, i / p, p);
                            const Range columns = balanced_block(all, i % p, p);
                            const Dense expected = cut(whole, order, rows, columns);
                            const LocalBlock block =
                                build_block(graph, MatrixId(transposed), rows, columns, scales, &order);
                            ASSERT_EQ(dense_of(block.view()), expected);
                            ASSERT_EQ(block.nonzeros(), filled(expected));
                            ASSERT_EQ(block.bytes(), 8 * (rows.size() + 1) + 8 * block.nonzeros());
                            ASSERT_EQ(block_nonzeros(graph, MatrixId(transposed), rows, columns, &order),
                                      filled(expected));
                            ASSERT_EQ(distinct_columns(graph, MatrixId(transposed), rows, columns, &order),
                                      filled_columns(expected));
                        }
                    }
                }
            }
        }
    }
}

// The pattern, which does not come from build_block.
TEST(OrderedBlocks, WithoutWeightsAreThePattern) {
    for (const Graph& graph : testing::small_graphs()) {
        const Range all = {0, graph.vertices()};
        for (const bool transposed : {false, true}) {
            const auto pattern = testing::dense_pattern(graph, transposed);
            Dense whole;
            for (const auto& row : pattern) whole.emplace_back(row.begin(), row.end());
            for (const VertexOrder& order : orders_of(graph)) {
                ASSERT_EQ(dense_of(build_block(graph, MatrixId(transposed), all, all, {}, &order).view()),
                          cut(whole, order, all, all));
            }
        }
    }
}

TEST(Blocks, OfSeveralColumnRangesEqualThoseBuiltOneByOne) {
    const Graph graph = testing::random_graph(20, 90, false, true, 5);
    const DegreeScales scales = compute_scales(graph, Normalisation::symmetric);
    const std::vector<std::vector<Range>> cuts = {
        {},       {{0, 20}},       {{0, 7}, {7, 14}, {14, 20}}, {{1, 4}, {6, 6}, {6, 9}, {15, 19}, {20, 20}},
        {{3, 3}}, {{0, 0}, {0, 5}}};
    for (const VertexOrder& order : orders_of(graph)) {
        for (const bool transposed : {false, true}) {
            for (const Range rows : {Range{0, 20}, Range{5, 11}, Range{4, 4}}) {
                for (const auto& columns : cuts) {
                    const auto blocks = build_blocks(graph, MatrixId(transposed), rows, columns, scales, &order);
                    ASSERT_EQ(blocks.size(), columns.size());
                    for (std::size_t t = 0; t < blocks.size(); ++t) {
                        const LocalBlock alone =
                            build_block(graph, MatrixId(transposed), rows, columns[t], scales, &order);
                        ASSERT_TRUE(std::ranges::equal(blocks[t].buffer(), alone.buffer()));
                        ASSERT_EQ(blocks[t].columns, columns[t].size());
                    }
                }
            }
        }
    }
    EXPECT_THROW(build_blocks(graph, forward_matrix, {0, 20}, std::vector<Range>{{0, 5}, {4, 9}}, scales), Error);
    EXPECT_THROW(build_blocks(graph, forward_matrix, {0, 20}, std::vector<Range>{{5, 9}, {0, 5}}, scales), Error);
}

TEST(Blocks, AreSentAsOneMessage) {
    const Graph graph = testing::random_graph(20, 90, false, true, 5);
    const LocalBlock block =
        build_block(graph, forward_matrix, {3, 16}, {2, 11}, compute_scales(graph, Normalisation::symmetric));
    ASSERT_GT(block.nonzeros(), 0);
    std::vector<std::byte> received(block.buffer().begin(), block.buffer().end());
    const kernels::Csr exact = view_of(received, block.rows, block.columns, block.nonzeros());
    EXPECT_EQ(exact.nonzeros(), block.nonzeros());
    EXPECT_EQ(dense_of(exact), dense_of(block.view()));
    received.resize(received.size() + 64);  // a buffer for the largest of several blocks
    EXPECT_EQ(dense_of(view_of(received, block.rows, block.columns, block.nonzeros())), dense_of(block.view()));
    for (const std::size_t bytes : {block.buffer().size() - 1, std::size_t{8}}) {
        EXPECT_THROW(view_of(block.buffer().first(bytes), block.rows, block.columns, block.nonzeros()), Error);
    }
}

TEST(Blocks, WithoutRowsOrNonzeros) {
    EXPECT_EQ(LocalBlock().bytes(), 8);
    EXPECT_EQ(LocalBlock().view().nonzeros(), 0);
    EXPECT_EQ(LocalBlock(3, 5, 0).bytes(), 32);
    EXPECT_EQ(LocalBlock(3, 5, 0).view().nonzeros(), 0);
    LocalBlock empty(3, 5, 0);
    number_columns(empty, {});
    EXPECT_EQ(empty.columns, 0);
}

// Once ascending, and once in another order.
TEST(NumberedColumns, AreThoseThatAreKept) {
    for (const Graph& graph : testing::small_graphs()) {
        const Range all = {0, graph.vertices()};
        for (const VertexOrder& order : orders_of(graph)) {
            for (std::int64_t i = 0; i < 18; ++i) {
                const Range rows = balanced_block(all, i / 3 % 3, 3);
                const Range columns = balanced_block(all, i % 3, 3);
                LocalBlock block = build_block(graph, forward_matrix, rows, columns, {}, &order);
                const std::vector<std::int32_t> held(block.column().begin(), block.column().end());
                std::set<std::int32_t> distinct(held.begin(), held.end());
                std::vector<std::int32_t> kept(distinct.begin(), distinct.end());
                if (i >= 9) std::rotate(kept.begin(), kept.begin() + std::ssize(kept) / 2, kept.end());
                number_columns(block, kept);
                ASSERT_EQ(block.columns, std::ssize(kept));
                for (std::size_t e = 0; e < held.size(); ++e)
                    EXPECT_EQ(kept[static_cast<std::size_t>(block.column()[e])], held[e]) << "nonzeros stay in order";
            }
        }
    }
}

}  // namespace
}  // namespace gnnplan::data
