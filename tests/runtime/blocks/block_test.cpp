#include "runtime/blocks/block.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace gnnplan::data {
namespace {

using Dense = std::vector<std::vector<double>>;

// Five vertices; 4 has neither in- nor out-edges before self loops.
const std::vector<Edge> directed_edges = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 0}, {3, 2}};

Graph directed_graph(bool self_loops) {
    EdgeList list;
    for (const Edge e : directed_edges) list.add(e.from, e.to);
    PreparationCounts counts;
    return build_graph(std::move(list), 5, {false, self_loops}, counts);
}

// A, dense, as defined: entry (u, v) for u -> v.
Dense dense_adjacency(bool self_loops) {
    Dense a(5, std::vector<double>(5, 0));
    for (const Edge e : directed_edges) a[static_cast<std::size_t>(e.from)][static_cast<std::size_t>(e.to)] = 1;
    for (std::size_t i = 0; self_loops && i < 5; ++i) a[i][i] = 1;
    return a;
}

Dense normalised(const Dense& a, Normalisation how) {
    std::vector<double> out(5, 0), in(5, 0);
    for (std::size_t u = 0; u < 5; ++u) {
        for (std::size_t v = 0; v < 5; ++v) {
            out[u] += a[u][v];
            in[v] += a[u][v];
        }
    }
    Dense result = a;
    for (std::size_t u = 0; u < 5; ++u) {
        for (std::size_t v = 0; v < 5; ++v) {
            if (a[u][v] == 0) continue;
            if (how == Normalisation::symmetric) result[u][v] = 1 / std::sqrt(out[u] * in[v]);
            if (how == Normalisation::row_mean) result[u][v] = 1 / in[v];
        }
    }
    return result;
}

Dense dense_of(const LocalBlock& block) {
    Dense result(static_cast<std::size_t>(block.rows), std::vector<double>(static_cast<std::size_t>(block.columns), 0));
    const kernels::Csr csr = block.view();
    for (std::int64_t i = 0; i < csr.rows; ++i) {
        for (std::int64_t k = csr.row_start[i]; k < csr.row_start[i + 1]; ++k) {
            result[static_cast<std::size_t>(i)].at(static_cast<std::size_t>(csr.column[k])) =
                static_cast<double>(csr.value[k]);
        }
    }
    return result;
}

class Blocks : public testing::TestWithParam<std::tuple<Normalisation, bool>> {};

TEST_P(Blocks, EqualTheDenseComputation) {
    const auto [how, self_loops] = GetParam();
    const Graph graph = directed_graph(self_loops);
    const DegreeScales scales = compute_scales(graph, how);
    const Dense expected = normalised(dense_adjacency(self_loops), how);
    const Dense backward = dense_of(build_block(graph, backward_matrix, {0, 5}, {0, 5}, scales));
    const Dense forward = dense_of(build_block(graph, forward_matrix, {0, 5}, {0, 5}, scales));
    for (std::size_t u = 0; u < 5; ++u) {
        for (std::size_t v = 0; v < 5; ++v) {
            EXPECT_EQ(backward[u][v], forward[v][u]) << "exact transposes";
            // One rounding to float of a product of two correctly rounded doubles.
            EXPECT_NEAR(backward[u][v], expected[u][v], 0x1p-24) << u << " -> " << v;
        }
    }
}

TEST_P(Blocks, TileTheMatrix) {
    const auto [how, self_loops] = GetParam();
    const Graph graph = directed_graph(self_loops);
    const DegreeScales scales = compute_scales(graph, how);
    for (const bool transposed : {false, true}) {
        const Dense whole = dense_of(build_block(graph, MatrixId(transposed), {0, 5}, {0, 5}, scales));
        for (const std::int64_t p : {1, 2, 3, 5, 7}) {
            for (const std::int64_t q : {1, 2, 4, 6}) {
                Dense tiled(5, std::vector<double>(5, -1));
                for (std::int64_t i = 0; i < p * q; ++i) {
                    const Range rows = balanced_block({0, 5}, i / q, p);
                    const Range columns = balanced_block({0, 5}, i % q, q);
                    const LocalBlock block = build_block(graph, MatrixId(transposed), rows, columns, scales);
                    EXPECT_EQ(block.nonzeros(), block_nonzeros(graph, MatrixId(transposed), rows, columns));
                    EXPECT_EQ(block.bytes(), 8 * (rows.size() + 1) + 8 * block.nonzeros());
                    EXPECT_EQ(block.view().nonzeros(), block.nonzeros());
                    const Dense part = dense_of(block);
                    for (std::int64_t r = 0; r < rows.size(); ++r) {
                        for (std::int64_t c = 0; c < columns.size(); ++c) {
                            tiled[static_cast<std::size_t>(rows.begin + r)]
                                 [static_cast<std::size_t>(columns.begin + c)] =
                                     part[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
                        }
                    }
                }
                EXPECT_EQ(tiled, whole);
            }
        }
    }
}

// Row starts of 32 bits are the same numbers, and what lies behind them is the same, too.
TEST_P(Blocks, NarrowRowStartsHoldTheSameMatrix) {
    const auto [how, self_loops] = GetParam();
    const Graph graph = directed_graph(self_loops);
    const DegreeScales scales = compute_scales(graph, how);
    for (const Range rows : {Range{0, 5}, Range{1, 4}, Range{2, 2}}) {
        for (const std::int64_t panel_columns : {0, 2}) {
            for (const bool values : {true, false}) {
                LocalBlock wide =
                    build_block(graph, forward_matrix, rows, {0, 5}, scales, nullptr, {values, panel_columns});
                LocalBlock narrow =
                    build_block(graph, forward_matrix, rows, {0, 5}, scales, nullptr, {values, panel_columns, 4});
                EXPECT_TRUE(narrow.row_start().empty() && wide.narrow_row_start().empty());
                EXPECT_TRUE(std::ranges::equal(narrow.narrow_row_start(), wide.row_start()));
                EXPECT_TRUE(std::ranges::equal(narrow.column(), wide.column()));
                EXPECT_TRUE(std::ranges::equal(narrow.value(), wide.value()));
                EXPECT_EQ(narrow.bytes(), wide.bytes() - 4 * std::ssize(wide.row_start()));
                const kernels::Csr csr = narrow.view();
                EXPECT_EQ(csr.row_start, nullptr);
                EXPECT_EQ(csr.nonzeros(), wide.nonzeros());
                const kernels::Csr last = csr.panel(csr.panels - 1);
                const kernels::Csr expected = wide.view().panel(csr.panels - 1);
                EXPECT_EQ(last.start(0), expected.start(0));
                EXPECT_EQ(last.nonzeros(), expected.nonzeros());
            }
        }
    }
}

// Source panels and factored values change where entries lie, not what they are.
TEST_P(Blocks, PanelsAndScalesHoldTheSameMatrix) {
    const auto [how, self_loops] = GetParam();
    const Graph graph = directed_graph(self_loops);
    const DegreeScales scales = compute_scales(graph, how);
    for (const bool transposed : {false, true}) {
        for (const Range rows : {Range{0, 5}, Range{1, 4}, Range{2, 2}}) {
            for (const Range columns : {Range{0, 5}, Range{1, 5}, Range{3, 3}}) {
                const LocalBlock plain = build_block(graph, MatrixId(transposed), rows, columns, scales);
                for (const std::int64_t panel_columns : {0, 1, 2, 3, 7}) {
                    for (const bool values : {true, false}) {
                        const LocalBlock block = build_block(graph, MatrixId(transposed), rows, columns, scales,
                                                             nullptr, {values, panel_columns});
                        const std::int64_t panels = panel_count(columns.size(), panel_columns);
                        EXPECT_EQ(block.panels(), panels);
                        EXPECT_EQ(block.bytes(), 8 * panels * (rows.size() + 1) + (values ? 8 : 4) * plain.nonzeros());
                        EXPECT_EQ(block.view().nonzeros(), plain.nonzeros());
                        const auto row_scale = block_scales(scales, transposed, true, rows);
                        const auto column_scale = block_scales(scales, transposed, false, columns);
                        Dense found(static_cast<std::size_t>(rows.size()),
                                    std::vector<double>(static_cast<std::size_t>(columns.size()), 0));
                        const kernels::Csr csr = block.view();
                        for (std::int64_t p = 0; p < panels; ++p) {
                            const Range panel = balanced_block({0, columns.size()}, p, panels);
                            for (std::int64_t i = 0; i < rows.size(); ++i) {
                                const std::int64_t* start = csr.row_start + p * csr.panel_stride + i;
                                for (std::int64_t k = start[0]; k < start[1]; ++k) {
                                    const auto j = static_cast<std::size_t>(csr.column[k]);
                                    EXPECT_TRUE(csr.column[k] >= panel.begin && csr.column[k] < panel.end);
                                    found[static_cast<std::size_t>(i)][j] =
                                        values ? csr.value[k]
                                               : row_scale[static_cast<std::size_t>(i)] * column_scale[j];
                                }
                            }
                        }
                        const Dense expected = dense_of(plain);
                        for (std::size_t i = 0; i < found.size(); ++i) {
                            for (std::size_t j = 0; j < found[i].size(); ++j) {
                                // Three roundings instead of one.
                                EXPECT_NEAR(found[i][j], expected[i][j], values ? 0 : 4 * 0x1p-24);
                            }
                        }
                    }
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Blocks,
                         testing::Combine(testing::Values(Normalisation::none, Normalisation::symmetric,
                                                          Normalisation::row_mean),
                                          testing::Bool()));

TEST(Blocks, RowsOfTheMeanSumToOne) {
    const Graph graph = directed_graph(true);
    const LocalBlock block =
        build_block(graph, forward_matrix, {0, 5}, {0, 5}, compute_scales(graph, Normalisation::row_mean));
    for (const std::vector<double>& row : dense_of(block)) {
        double sum = 0;
        for (const double value : row) sum += value;
        EXPECT_NEAR(sum, 1, 4 * 0x1p-24);
    }
}

TEST(Blocks, SymmetricGraphServesBothPasses) {
    EdgeList list;
    for (const Edge e : directed_edges) list.add(e.from, e.to);
    PreparationCounts counts;
    const Graph graph = build_graph(std::move(list), 5, {true, true}, counts);
    const DegreeScales scales = compute_scales(graph, Normalisation::symmetric);
    const LocalBlock forward = build_block(graph, forward_matrix, {0, 5}, {0, 5}, scales);
    const LocalBlock backward = build_block(graph, backward_matrix, {0, 5}, {0, 5}, scales);
    EXPECT_TRUE(std::ranges::equal(forward.buffer(), backward.buffer()));
}

}  // namespace
}  // namespace gnnplan::data
