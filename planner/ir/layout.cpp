#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/layout.hpp>

#include <algorithm>
#include <optional>

namespace gnnplan {

Axes Axes::parse(std::string_view text) {
    Axes axes;
    for (const char letter : text) {
        if (letter < 'x' || letter > 'z') {
            throw Error(ErrorCode::data, "unknown grid axis '" + std::string(1, letter) + "'", "",
                        "axes are x, y and z");
        }
        const auto axis = static_cast<Axis>(letter - 'x');
        if (axes.contains(axis)) {
            throw Error(ErrorCode::data, "grid axis '" + std::string(1, letter) + "' named twice");
        }
        axes.axes_[static_cast<std::size_t>(axes.size_++)] = axis;
    }
    return axes;
}

bool Axes::contains(Axis axis) const { return std::find(begin(), end(), axis) != end(); }

std::string Axes::text() const {
    std::string letters;
    for (const Axis axis : *this) letters += static_cast<char>('x' + static_cast<int>(axis));
    return letters;
}

std::array<Axis, 3> Grid::slowest_first() const {
    switch (nearest) {
        case Axis::x: return {Axis::z, Axis::y, Axis::x};
        case Axis::y: return {Axis::x, Axis::z, Axis::y};
        case Axis::z: return {Axis::x, Axis::y, Axis::z};
    }
    return {};
}

int Grid::neighbour(int rank, Axis axis, int at) const { return rank + (at - coordinate(rank, axis)) * stride(axis); }

NearRanks near_along(const Grid& grid, int ranks_per_node, int rank, Axis axis) {
    const int extent = grid.extent(axis);
    if (extent == 1) return {};
    const int stride = grid.stride(axis);
    const int first = rank / ranks_per_node * ranks_per_node;
    const int last = first + ranks_per_node - 1;
    const int own = grid.coordinate(rank, axis);
    return {std::min(own, (rank - first) / stride), std::min(extent - 1 - own, (last - rank) / stride)};
}

std::string Grid::text() const {
    std::string sizes = std::to_string(x) + "x" + std::to_string(y);
    if (z > 1) sizes += "x" + std::to_string(z);
    return sizes;
}

Range split_block(std::int64_t n, Axes axes, const Grid& grid, int rank) {
    Range range{0, n};
    for (const Axis axis : axes) {
        const int extent = grid.extent(axis);
        if (axis == Axis::x && grid.grouped() && n == grid.groups.back()) {
            const auto group = static_cast<std::size_t>(grid.coordinate(rank, Axis::x));
            range = {grid.groups[group], grid.groups[group + 1]};
        } else if (extent > 1)
            range = balanced_block(range, grid.coordinate(rank, axis), extent);
    }
    return range;
}

Block block_of(std::int64_t rows, std::int64_t columns, const Layout& layout, const Grid& grid, int rank) {
    return {split_block(rows, layout.rows, grid, rank), split_block(columns, layout.columns, grid, rank)};
}

namespace {

// Whether two lists split alike: axes of extent 1 split nothing.
bool split_alike(const Axes& a, const Axes& b, const Grid& grid) {
    const auto next = [&](const Axes& axes, int& i) {
        while (i < axes.size() && grid.extent(axes[i]) == 1) ++i;
        return i < axes.size() ? std::optional(axes[i++]) : std::nullopt;
    };
    for (int i = 0, j = 0;;) {
        const auto from_a = next(a, i);
        if (from_a != next(b, j)) return false;
        if (!from_a) return true;
    }
}

}  // namespace

bool same_placement(const Layout& a, const Layout& b, const Grid& grid) {
    return split_alike(a.rows, b.rows, grid) && split_alike(a.columns, b.columns, grid) &&
           split_alike(a.partial, b.partial, grid);
}

namespace {

// Asked for in the innermost loops of costing.
const Layout c_layout{Axes::parse("xz"), Axes::parse("y"), {}};
const Layout r_layout{Axes::parse("xzy"), {}, {}};
const Layout f_layout{Axes::parse("xz"), {}, {}};
const Layout columns_layout{{}, Axes::parse("xzy"), {}};
const Layout partial_layout{{}, {}, Axes::parse("xyz")};

}  // namespace

Layout layout_c() { return c_layout; }
Layout layout_f() { return f_layout; }
Layout layout_r() { return r_layout; }
Layout layout_columns() { return columns_layout; }
Layout layout_replicated() { return {}; }
Layout layout_partial() { return partial_layout; }

}  // namespace gnnplan
