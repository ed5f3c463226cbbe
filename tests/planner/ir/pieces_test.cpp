// The pieces of a product on every grid of up to 12 ranks: whatever the grid, every row block meets every column once.
#include <gtest/gtest.h>
#include <gnnplan/ir/packed_panel.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace gnnplan {
namespace {

struct Case {
    Grid grid;
    Tensor matrix;

    bool block_distributed() const { return matrix.layout.columns.text() == "y"; }
    bool sharded() const { return matrix.layout.columns.text() == "zy"; }
    std::string text() const {
        return grid.text() + ", rows over " + matrix.layout.rows.text() + ", columns over " +
               matrix.layout.columns.text() + ", " + std::to_string(matrix.columns) + " in " +
               std::to_string(matrix.storage.splits);
    }
};

Tensor matrix_of(std::int64_t columns, const char* axes) {
    return {"A^T", Role::adjacency, DType::f32, 7, columns, {Axes::parse("x"), Axes::parse(axes), {}}, true};
}

Tensor matrix_of_dealt_rows(std::int64_t columns) {
    return {"A^T.dealt", Role::adjacency, DType::f32, 7, columns, layout_r(), true};
}

// The three ways to lay out the contraction side on every grid that can have them, and rows that are dealt over all
// ranks; more ranks than columns, too.
std::vector<Case> cases() {
    std::vector<Case> all;
    for (int x = 1; x <= 12; ++x) {
        for (int y = 1; x * y <= 12; ++y) {
            for (int z = 1; x * y * z <= 12; ++z) {
                for (const std::int64_t columns : {1, 5, 11, 12, 24, 101}) {
                    for (const int splits : {1, 3}) {
                        for (const char* axes : {"z", "zy", "y"}) {
                            if (z > 1 && axes == std::string("y")) continue;
                            all.push_back({{x, y, z}, matrix_of(columns, axes)});
                            all.back().matrix.storage.splits = splits;
                        }
                        all.push_back({{x, y, z}, matrix_of_dealt_rows(columns)});
                        all.back().matrix.storage.splits = splits;
                    }
                }
            }
        }
    }
    return all;
}

void expect_exactly_once(std::vector<Range> ranges, std::int64_t columns, const std::string& what) {
    std::erase_if(ranges, [](Range range) { return range.empty(); });
    std::sort(ranges.begin(), ranges.end(), [](Range a, Range b) { return a.begin < b.begin; });
    std::int64_t covered = 0;
    for (const Range& range : ranges) {
        EXPECT_EQ(range.begin, covered) << what;
        covered = range.end;
    }
    EXPECT_EQ(covered, columns) << what;
}

// Ranks that differ from `rank` along the axis over which products are partial sums.
std::vector<int> summands(const Case& c, int rank) {
    if (deals_rows(c.matrix)) return {rank};
    const Axis axis = c.block_distributed() ? Axis::y : Axis::z;
    std::vector<int> ranks;
    for (int i = 0; i < c.grid.extent(axis); ++i) ranks.push_back(c.grid.neighbour(rank, axis, i));
    return ranks;
}

TEST(Pieces, OfASumCoverEveryColumnOnce) {
    for (const Case& c : cases()) {
        for (int rank = 0; rank < c.grid.size(); ++rank) {
            std::vector<Range> ranges;
            for (const int summand : summands(c, rank)) {
                for (const Piece& piece : pieces_of(c.grid, c.matrix, summand)) ranges.push_back(piece.columns);
            }
            expect_exactly_once(ranges, c.matrix.columns, c.text());
        }
    }
}

TEST(Pieces, AreHeldByTheirRoots) {
    for (const Case& c : cases()) {
        for (int rank = 0; rank < c.grid.size(); ++rank) {
            for (const Piece& piece : pieces_of(c.grid, c.matrix, rank)) {
                if (!deals_rows(c.matrix) && !c.block_distributed()) {
                    EXPECT_EQ(c.grid.neighbour(piece.dense_root, Axis::x, c.grid.coordinate(rank, Axis::x)), rank);
                }
                EXPECT_EQ(c.grid.neighbour(piece.matrix_root, Axis::y, c.grid.coordinate(rank, Axis::y)), rank);
                const Range held = split_block(c.matrix.columns, dense_layout(c.matrix).rows, c.grid, piece.dense_root);
                EXPECT_EQ(intersect(held, piece.columns), piece.columns) << c.text();
                if (c.sharded()) continue;
                EXPECT_EQ(piece.matrix_root, rank) << c.text();
                if (c.matrix.storage.splits == 1) {
                    EXPECT_EQ(piece.columns, held) << "whole blocks travel";
                }
            }
        }
    }
}

std::vector<Range> stored_by(const Case& c, int rank) {
    std::vector<Range> ranges;
    for (const Piece& piece : pieces_of(c.grid, c.matrix, rank)) {
        if (piece.matrix_root == rank) ranges.push_back(piece.columns);
    }
    return ranges;
}

// Over y where nonzeros are sharded or dealt, on each rank where they are replicated. Shards are of equal length.
TEST(Pieces, StoredByTheRanksOfARowBlockCoverTheMatrix) {
    for (const Case& c : cases()) {
        if (deals_rows(c.matrix)) {
            for (int rank = 0; rank < c.grid.size(); ++rank)
                expect_exactly_once(stored_by(c, rank), c.matrix.columns, c.text());
            continue;
        }
        for (int ix = 0; ix < c.grid.x; ++ix) {
            for (int iy = 0; iy < c.grid.y; ++iy) {
                const bool split = c.sharded() || c.block_distributed();
                if (split && iy > 0) break;
                std::vector<Range> ranges;
                for (int iz = 0; iz < c.grid.z; ++iz) {
                    for (int j = split ? 0 : iy; j <= (split ? c.grid.y - 1 : iy); ++j) {
                        const auto stored = stored_by(c, c.grid.rank_at(ix, j, iz));
                        ranges.insert(ranges.end(), stored.begin(), stored.end());
                    }
                }
                expect_exactly_once(ranges, c.matrix.columns, c.text());
            }
        }
    }
}

TEST(Pieces, ShardsAreBalanced) {
    for (const Case& c : cases()) {
        if (!c.sharded()) continue;
        for (int ix = 0; ix < c.grid.x; ++ix) {
            for (int iz = 0; iz < c.grid.z; ++iz) {
                std::vector<std::int64_t> lengths;
                for (int iy = 0; iy < c.grid.y; ++iy) {
                    std::int64_t length = 0;
                    for (const Range& range : stored_by(c, c.grid.rank_at(ix, iy, iz))) length += range.size();
                    lengths.push_back(length);
                }
                const auto [least, most] = std::minmax_element(lengths.begin(), lengths.end());
                EXPECT_LE(*most - *least, 1) << c.text();
            }
        }
    }
}

// Where nonzeros are sharded each piece of the refinement is cut by itself, into columns at most.
TEST(Pieces, AreCutIntoSplits) {
    for (const Case& c : cases()) {
        if (c.matrix.storage.splits == 1) continue;
        Case whole = c;
        whole.matrix.storage.splits = 1;
        for (int rank = 0; rank < c.grid.size(); ++rank) {
            std::vector<Range> expected, found;
            for (const Piece& piece : pieces_of(c.grid, whole.matrix, rank)) {
                const bool stays =
                    !c.block_distributed() && !gathers_matrix(c.grid, c.matrix) && piece.dense_root == rank;
                const auto most = gathers_matrix(c.grid, c.matrix) ? piece.columns.size() : std::int64_t{3};
                const std::int64_t count = stays ? 1 : std::min<std::int64_t>(3, most);
                for (std::int64_t i = 0; i < count; ++i) expected.push_back(balanced_block(piece.columns, i, count));
            }
            for (const Piece& piece : pieces_of(c.grid, c.matrix, rank)) found.push_back(piece.columns);
            if (gathers_matrix(c.grid, c.matrix)) {  // which begin with another one of them
                const auto by_begin = [](Range a, Range b) { return a.begin < b.begin; };
                std::sort(found.begin(), found.end(), by_begin), std::sort(expected.begin(), expected.end(), by_begin);
            }
            EXPECT_EQ(found, expected) << c.text();
        }
    }
}

// The stages of 2D are the common refinement of two even splits: p_r + p_c - gcd of them (CAGNET IV-C prints the
// greatest common factor alone).
TEST(Pieces, OfTwoEvenSplitsAreTheirCommonRefinement) {
    for (int x = 1; x <= 8; ++x) {
        for (int y = 2; y <= 8; ++y) {
            const Tensor matrix = matrix_of(std::int64_t{x} * y * 3, "zy");
            for (int rank = 0; rank < x * y; ++rank) {
                EXPECT_EQ(pieces_of({x, y, 1}, matrix, rank).size(), static_cast<std::size_t>(x + y - std::gcd(x, y)))
                    << x << "x" << y;
            }
        }
    }
}

TEST(Pieces, AreCounted) {
    for (const Case& c : cases()) {
        for (int rank = 0; rank < c.grid.size(); ++rank) {
            EXPECT_EQ(static_cast<std::size_t>(piece_count(c.grid, c.matrix, rank)),
                      pieces_of(c.grid, c.matrix, rank).size())
                << c.text();
        }
    }
}

TEST(Pieces, AreCountedBySize) {
    for (const Case& c : cases()) {
        for (int rank = 0; rank < c.grid.size(); ++rank) {
            std::map<std::pair<std::int64_t, bool>, std::int64_t> expected, found;
            for (const Piece& piece : pieces_of(c.grid, c.matrix, rank)) {
                if (!piece.columns.empty()) ++expected[{piece.columns.size(), piece.dense_root == rank}];
            }
            for (const EqualPieces& pieces : equal_pieces(c.grid, c.matrix, rank))
                found[{pieces.columns, pieces.own}] += pieces.count;
            ASSERT_EQ(found, expected) << c.text() << ", rank " << rank;
        }
    }
}

// Where a rank has all nonzeros of its slice, its k-th piece is that of the rank k further along x, or k further where
// rows are dealt, unless these are split: it begins at home, and no two ranks of a group ask the same one at the same
// step. Where blocks are dealt it begins at home if it can.
TEST(Pieces, BeginAtHomeAndTakeTurns) {
    for (const Case& c : cases()) {
        if (c.sharded() && c.grid.y > 1) continue;
        for (int rank = 0; rank < c.grid.size(); ++rank) {
            const std::vector<Piece> pieces = pieces_of(c.grid, c.matrix, rank);
            const bool has_own =
                std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) { return piece.dense_root == rank; });
            if (has_own) {
                EXPECT_EQ(pieces.front().dense_root, rank) << c.text();
            }
            const bool of_all = deals_rows(c.matrix) && c.matrix.storage.splits == 1;
            for (std::size_t k = 0; k < pieces.size() && of_all; ++k)
                EXPECT_EQ(pieces[k].dense_root, (rank + static_cast<int>(k)) % c.grid.size()) << c.text();
            const bool in_turn = !c.block_distributed() && !deals_rows(c.matrix) && c.matrix.storage.splits == 1;
            for (std::size_t k = 0; k < pieces.size() && in_turn; ++k) {
                const int turn = (c.grid.coordinate(rank, Axis::x) + static_cast<int>(k)) % c.grid.x;
                EXPECT_EQ(pieces[k].dense_root, c.grid.neighbour(rank, Axis::x, turn)) << c.text();
            }
        }
    }
}

TEST(Pieces, OfOneRootAreThoseOfTheList) {
    for (const Case& c : cases()) {
        if (gathers_matrix(c.grid, c.matrix)) continue;
        for (int rank = 0; rank < c.grid.size(); ++rank) {
            const std::vector<Piece> pieces = pieces_of(c.grid, c.matrix, rank);
            for (const int root : dense_roots(c.grid, c.matrix, rank)) {
                std::vector<Range> in_list;
                for (const Piece& piece : pieces) {
                    if (piece.dense_root == root) in_list.push_back(piece.columns);
                }
                std::vector<Range> of_root;
                for (const Piece& piece : pieces_of(c.grid, c.matrix, root, rank)) of_root.push_back(piece.columns);
                EXPECT_EQ(of_root, in_list) << c.text();
            }
        }
    }
}

using Transfer = std::tuple<std::size_t, int, int, std::int64_t, std::int64_t>;  // step, from, to, columns

// The pieces that ranks lack at each step, and those that their peers serve at that step.
struct Transfers {
    std::multiset<Transfer> rows, nonzeros;
    bool operator==(const Transfers&) const = default;
};

Transfers lacked(const Case& c) {
    Transfers transfers;
    for (int rank = 0; rank < c.grid.size(); ++rank) {
        const std::vector<Piece> pieces = pieces_of(c.grid, c.matrix, rank);
        for (std::size_t k = 0; k < pieces.size(); ++k) {
            const auto& [columns, dense, matrix] = pieces[k];
            if (dense != rank) transfers.rows.insert({k, dense, rank, columns.begin, columns.end});
            if (matrix != rank) transfers.nonzeros.insert({k, matrix, rank, columns.begin, columns.end});
        }
    }
    return transfers;
}

// CAGNET's 1.5D: whoever holds a block serves as many ranks with it as it is dealt blocks, one a stage where hands are
// equal, and every rank counts as many stages.
TEST(Stages, OfDealtBlocksShareTheSending) {
    for (const Case& c : cases()) {
        if (!c.block_distributed() || c.grid.y == 1) continue;
        const auto splits = static_cast<std::size_t>(c.matrix.storage.splits);
        for (int rank = 0; rank < c.grid.size(); ++rank) {
            const std::vector<Stage> stages = stages_of(c.grid, c.matrix, rank);
            EXPECT_EQ(stages.size(), stages_of(c.grid, c.matrix, 0).size());
            std::size_t served = 0, fetched = 0, most = 0;
            for (const Stage& stage : stages) {
                served += stage.rows.size();
                most = std::max(most, stage.rows.size());
                if (stage.piece && stage.piece->dense_root != rank) ++fetched;
            }
            EXPECT_EQ(served, fetched) << c.text();
            EXPECT_LE(served, splits * static_cast<std::size_t>((c.grid.x + c.grid.y - 1) / c.grid.y)) << c.text();
            EXPECT_LE(most, c.grid.x % c.grid.y == 0 ? 1U : 2U) << c.text();
        }
    }
}

TEST(Stages, ServeWhatPiecesLack) {
    for (const Case& c : cases()) {
        Transfers served;
        for (int rank = 0; rank < c.grid.size(); ++rank) {
            const std::vector<Piece> pieces = pieces_of(c.grid, c.matrix, rank);
            const std::vector<Stage> stages = stages_of(c.grid, c.matrix, rank);
            ASSERT_GE(stages.size(), pieces.size());
            for (std::size_t k = 0; k < stages.size(); ++k) {
                ASSERT_EQ(stages[k].piece.has_value(), k < pieces.size());
                if (k < pieces.size()) {
                    EXPECT_EQ(stages[k].piece->columns, pieces[k].columns);
                }
                for (const auto& [to, columns] : stages[k].rows) {
                    served.rows.insert({k, rank, to, columns.begin, columns.end});
                }
                for (const auto& [to, columns] : stages[k].nonzeros) {
                    served.nonzeros.insert({k, rank, to, columns.begin, columns.end});
                }
            }
        }
        EXPECT_EQ(served, lacked(c)) << c.text();
    }
}

// The GPU has a cache with room for so many bytes.
Blocking gpu_with_cache(std::int64_t bytes) {
    Blocking blocking = gpu_blocking(0);
    blocking.cache_bytes = bytes;
    return blocking;
}

TEST(PackedPanel, OfASinglePanelIsWhatLiesAcrossUnits) {
    const auto rows = [](const Blocking& blocking, std::int64_t width) {
        return packed_panel(blocking, 101, 0, width, false).rows;
    };
    for (const std::int64_t width : {3, 5, 9, 41, 100, 602}) EXPECT_EQ(rows(gpu_with_cache(0), width), 101) << width;
    for (const std::int64_t width : {0, 1, 2, 4, 8, 16, 24, 256, 512})
        EXPECT_EQ(rows(gpu_with_cache(0), width), 0) << width;
    EXPECT_EQ(rows({}, 41), 0) << "a CPU reads them as they are";
    EXPECT_EQ(packed_panel(gpu_with_cache(0), 101, 0, 16, true).rows, 101) << "in bf16 they are always copied";
}

TEST(PackedPanel, TakesWholeUnitsOfEachSlice) {
    const auto packed = [](const Blocking& blocking, std::int64_t width, bool bf16) {
        const PackedPanel panel = packed_panel(blocking, 100, 0, width, bf16);
        return std::tuple(panel.slices, panel.stride, panel.bytes());
    };
    EXPECT_EQ(packed(gpu_with_cache(0), 41, false), std::tuple(1, 48, 100 * 48 * 4));
    EXPECT_EQ(packed(gpu_with_cache(0), 41, true), std::tuple(1, 48, 100 * 48 * 2));
    EXPECT_EQ(packed(gpu_with_cache(0), 602, false), std::tuple(3, 208, 100 * 208 * 4)) << "256 columns at most";
}

// 100 rows of 64 floats are 25,600 bytes.
TEST(PackedPanel, SlicesStayInTheCache) {
    const auto columns = [](std::int64_t cache, std::int64_t rows, bool bf16) {
        const PackedPanel packed = packed_panel(gpu_with_cache(cache), rows, 0, 602, bf16);
        return std::pair(packed.slices, packed.stride);
    };
    EXPECT_EQ(columns(25'600, 100, false), std::pair(std::int64_t{10}, std::int64_t{64}));
    EXPECT_EQ(columns(25'599, 100, false), std::pair(std::int64_t{11}, std::int64_t{56})) << "one unit less";
    EXPECT_EQ(columns(25'600, 100, true), std::pair(std::int64_t{5}, std::int64_t{128})) << "of half the bytes";
    EXPECT_EQ(columns(25'600, 50, false), std::pair(std::int64_t{5}, std::int64_t{128})) << "of half the rows";
    EXPECT_EQ(columns(12'800, 100, false), std::pair(std::int64_t{19}, std::int64_t{32})) << "the least";
    EXPECT_EQ(columns(12'799, 100, false), std::pair(std::int64_t{3}, std::int64_t{208})) << "fewer do not pay";
    EXPECT_EQ(columns(1'000'000, 100, false), std::pair(std::int64_t{3}, std::int64_t{208})) << "all of it fits";
}

TEST(PackedPanel, OfASinglePanelIsNoneWhereASliceWouldNotStay) {
    EXPECT_EQ(packed_panel(gpu_with_cache(12'800), 100, 0, 602, false).rows, 100);
    EXPECT_EQ(packed_panel(gpu_with_cache(12'799), 100, 0, 602, false).rows, 0);
    EXPECT_EQ(packed_panel(gpu_with_cache(12'799), 100, 0, 602, true).rows, 100) << "in bf16 they are always copied";
}

}  // namespace
}  // namespace gnnplan
