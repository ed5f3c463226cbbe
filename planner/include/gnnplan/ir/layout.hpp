// Where the elements of a matrix live: a grid of ranks and, per dimension, the grid axes it is split over.
//
// Ranks form a grid (x, y, z) of x * y * z = P. Each dimension of a matrix is split over an ordered list of axes; over
// the axes named in neither list a block is replicated, or holds a partial sum when `partial` says so.
#pragma once

#include <gnnplan/base/range.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gnnplan {

enum class Axis : std::uint8_t { x, y, z };

// An ordered list of distinct axes, written "xzy"; "" is the empty list.
class Axes {
public:
    constexpr Axes() = default;
    // Throws Error{data} on letters other than x, y, z and on repeats.
    static Axes parse(std::string_view text);

    int size() const { return size_; }
    bool empty() const { return size_ == 0; }
    Axis operator[](int i) const { return axes_[static_cast<std::size_t>(i)]; }
    const Axis* begin() const { return axes_.data(); }
    const Axis* end() const { return axes_.data() + size_; }
    bool contains(Axis axis) const;
    std::string text() const;
    bool operator==(const Axes&) const = default;

private:
    std::array<Axis, 3> axes_{};
    int size_ = 0;
};

// Ranks are numbered along one axis first, whose ranks are neighbours and lie within a node, and then along the others
// in the order y, z, x. Usually that is y: rank = (i_x * z + i_z) * y + i_y, so that the ranks of a y-group, which
// exchange in every redistribution, are neighbours.
//
// Ranks of one coordinate along x may be a group, which has a graph of its own: the rows of all these graphs follow
// each other, no edge joins two of them, and where ranks work on them they share nothing but sums.
struct Grid {
    int x = 1;
    int y = 1;
    int z = 1;
    Axis nearest = Axis::y;
    // The first row of each group, and behind the last one all their rows. Over x so many rows are split into
    // those of each group, and any other number of rows evenly.
    std::vector<std::int64_t> groups = {};

    bool grouped() const { return !groups.empty(); }
    int size() const { return x * y * z; }
    // The difference of the numbers of two ranks that are next to each other along an axis.
    int stride(Axis axis) const {
        if (axis == nearest) return 1;
        switch (axis) {
            case Axis::y: return extent(nearest);
            case Axis::z: return nearest == Axis::x ? x * y : y;
            case Axis::x: return y * z;
        }
        return 1;
    }
    // All three, the one along which ranks are numbered last first.
    std::array<Axis, 3> slowest_first() const;
    // The rank that differs from `rank` in its coordinate of `axis` alone.
    int neighbour(int rank, Axis axis, int coordinate) const;
    int extent(Axis axis) const { return axis == Axis::x ? x : axis == Axis::y ? y : z; }
    int coordinate(int rank, Axis axis) const {
        if (nearest == Axis::y && axis == Axis::x) return rank / (y * z);  // asked for in innermost loops
        return rank / stride(axis) % extent(axis);
    }
    int rank_at(int ix, int iy, int iz) const {
        return ix * stride(Axis::x) + iy * stride(Axis::y) + iz * stride(Axis::z);
    }
    // The rank with the i-th block of a dimension that is split over x, then z, then y.
    int rank_of_block(int i) const { return rank_at(i / (y * z), i % y, i / y % z); }
    int block_of_rank(int rank) const {
        return (coordinate(rank, Axis::x) * z + coordinate(rank, Axis::z)) * y + coordinate(rank, Axis::y);
    }
    std::string text() const;  // "2x4", or "2x4x3" when z > 1
    bool operator==(const Grid&) const = default;
};

// How many ranks of the same node come before and after `rank` along an axis, differing in that coordinate alone.
struct NearRanks {
    int before = 0;
    int after = 0;
};
NearRanks near_along(const Grid& grid, int ranks_per_node, int rank, Axis axis);

// The most ranks a schedule is made for: the messages of a collective are listed pair by pair.
inline constexpr int max_ranks = 16384;

// The part of a matrix one rank holds, in global indices.
struct Block {
    Range rows;
    Range columns;

    std::int64_t count() const { return rows.size() * columns.size(); }
    bool operator==(const Block&) const = default;
};

inline Block intersect(const Block& a, const Block& b) {
    return {intersect(a.rows, b.rows), intersect(a.columns, b.columns)};
}

// Whether `part` of a row-major `whole` lies in one piece.
inline bool contiguous_in(const Block& part, const Block& whole) {
    return part.columns == whole.columns || part.rows.size() <= 1;
}

struct Layout {
    Axes rows;
    Axes columns;
    Axes partial;  // axes over which blocks are summands of the matrix

    bool operator==(const Layout&) const = default;
};

// Block of `n` items that `rank` holds when they are split over `axes` in order: first into balanced blocks over
// axes[0], or the rows of groups, each of those over axes[1], and so on.
Range split_block(std::int64_t n, Axes axes, const Grid& grid, int rank);

// Block of a rows x columns matrix in `layout` on `rank`.
Block block_of(std::int64_t rows, std::int64_t columns, const Layout& layout, const Grid& grid, int rank);

// Whether two layouts put every element on the same ranks of `grid`: axes of extent 1 split nothing. On a grid with y =
// 1 layouts C and R are one (the 1D schemes).
bool same_placement(const Layout& a, const Layout& b, const Grid& grid);

// The resting layouts of an N x f matrix. C and R are RDM's (section III-A): in C, SpMM needs no communication when M
// is replicated, in R, GEMM, the loss and weight gradients need none. F has whole rows on every rank of a y-group:
// CAGNET's 1.5D rests there, and products with it are column-parallel.
Layout layout_c();           // rows over (x, z), columns over y
Layout layout_r();           // rows over (x, z, y)
Layout layout_f();           // rows over (x, z), replicated over y
Layout layout_columns();     // all rows of columns over (x, z, y)
Layout layout_replicated();  // everywhere
Layout layout_partial();     // everywhere, a summand on every rank

}  // namespace gnnplan
