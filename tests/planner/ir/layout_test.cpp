#include <gtest/gtest.h>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/layout.hpp>

#include <array>
#include <set>
#include <vector>

namespace gnnplan {
namespace {

const Grid grids[] = {{1, 1, 1}, {1, 4, 1}, {4, 1, 1}, {2, 3, 1}, {3, 2, 1}, {2, 2, 3}, {1, 2, 4}};

TEST(Blocks, StartWhereTheBlockRuleSays) {
    for (const std::int64_t n : {0, 1, 5, 7, 12}) {
        for (const std::int64_t k : {1, 2, 3, 5, 8}) {
            for (std::int64_t i = 0; i < k; ++i) {
                EXPECT_EQ(balanced_block({0, n}, i, k).begin, i * (n / k) + std::min(i, n % k));
            }
            EXPECT_EQ(balanced_block({0, n}, k - 1, k).end, n);
        }
    }
}

// Every element is on exactly as many ranks as the layout replicates it.
TEST(Blocks, TileTheMatrix) {
    constexpr std::int64_t rows = 11, columns = 5;
    for (const Grid& grid : grids) {
        for (const Layout& layout : {layout_c(), layout_r(), layout_replicated(), Layout{Axes::parse("x"), {}, {}}}) {
            std::vector<int> copies(rows * columns, 0);
            for (int rank = 0; rank < grid.size(); ++rank) {
                const Block b = block_of(rows, columns, layout, grid, rank);
                for (auto i = b.rows.begin; i < b.rows.end; ++i) {
                    for (auto j = b.columns.begin; j < b.columns.end; ++j)
                        ++copies[static_cast<std::size_t>(i * columns + j)];
                }
            }
            int split = 1;
            for (const Axes& axes : {layout.rows, layout.columns}) {
                for (const Axis axis : axes) split *= grid.extent(axis);
            }
            for (const int count : copies) EXPECT_EQ(count, grid.size() / split) << grid.text();
        }
    }
}

TEST(Grid, CoordinatesAndRanksAreInverse) {
    for (const Grid& grid : grids) {
        for (int rank = 0; rank < grid.size(); ++rank) {
            EXPECT_EQ(grid.rank_at(grid.coordinate(rank, Axis::x), grid.coordinate(rank, Axis::y),
                                   grid.coordinate(rank, Axis::z)),
                      rank);
        }
    }
}

// Ranks are numbered along the nearest axis first, then along the others in the order y, z, x; blocks go by
// coordinates.
TEST(Grid, RanksAreNumberedAlongTheNearestAxisFirst) {
    for (Grid grid : grids) {
        for (const Axis nearest : {Axis::x, Axis::y, Axis::z}) {
            grid.nearest = nearest;
            std::set<int> met;
            for (int rank = 0; rank < grid.size(); ++rank) {
                const int ix = grid.coordinate(rank, Axis::x), iy = grid.coordinate(rank, Axis::y);
                const int iz = grid.coordinate(rank, Axis::z);
                EXPECT_EQ(grid.rank_at(ix, iy, iz), rank);
                EXPECT_EQ(grid.rank_of_block(grid.block_of_rank(rank)), rank);
                met.insert(grid.block_of_rank(rank));
                EXPECT_EQ(grid.neighbour(rank, Axis::x, 0), grid.rank_at(0, iy, iz));
                if (rank + 1 < grid.size() && grid.coordinate(rank, nearest) + 1 < grid.extent(nearest)) {
                    EXPECT_EQ(grid.neighbour(rank, nearest, grid.coordinate(rank, nearest) + 1), rank + 1);
                }
            }
            EXPECT_EQ(met.size(), static_cast<std::size_t>(grid.size()));
        }
    }
    const auto strides_of = [](Axis nearest) {
        const Grid grid{2, 3, 4, nearest};
        return std::array{grid.stride(Axis::x), grid.stride(Axis::y), grid.stride(Axis::z)};
    };
    EXPECT_EQ(strides_of(Axis::y), (std::array{12, 1, 3}));
    EXPECT_EQ(strides_of(Axis::x), (std::array{1, 2, 6}));
    EXPECT_EQ(strides_of(Axis::z), (std::array{12, 4, 1}));
}

// In R the blocks of an x-block's y-group are consecutive pieces of the C block: redistribution stays inside the
// y-group.
TEST(Layouts, RRefinesTheRowsOfC) {
    for (const Grid& grid : grids) {
        for (int rank = 0; rank < grid.size(); ++rank) {
            const Block c = block_of(23, 9, layout_c(), grid, rank);
            const Block r = block_of(23, 9, layout_r(), grid, rank);
            EXPECT_EQ(intersect(c.rows, r.rows), r.rows);
        }
    }
}

TEST(Layouts, PlacementIgnoresAxesThatSplitNothing) {
    EXPECT_TRUE(same_placement(layout_c(), layout_r(), {4, 1, 1}));
    EXPECT_FALSE(same_placement(layout_c(), layout_r(), {1, 4, 1}));
    EXPECT_TRUE(same_placement(layout_partial(), layout_replicated(), {1, 1, 1}));
}

TEST(Axes, ParseAndPrint) {
    EXPECT_EQ(Axes::parse("xzy").text(), "xzy");
    EXPECT_EQ(Axes::parse("").size(), 0);
    EXPECT_THROW(Axes::parse("xx"), Error);
    EXPECT_THROW(Axes::parse("xw"), Error);
    EXPECT_THROW(Axes::parse("xyzx"), Error);
}

}  // namespace
}  // namespace gnnplan
