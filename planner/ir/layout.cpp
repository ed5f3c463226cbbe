#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/layout.hpp>

#include <algorithm>

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

int Grid::coordinate(int rank, Axis axis) const {
    switch (axis) {
        case Axis::x: return rank / (y * z);
        case Axis::z: return rank / y % z;
        case Axis::y: return rank % y;
    }
    return 0;
}

std::string Grid::text() const {
    std::string sizes = std::to_string(x) + "x" + std::to_string(y);
    if (z > 1) sizes += "x" + std::to_string(z);
    return sizes;
}

Range split_block(std::int64_t n, Axes axes, const Grid& grid, int rank) {
    Range range{0, n};
    for (const Axis axis : axes) range = balanced_block(range, grid.coordinate(rank, axis), grid.extent(axis));
    return range;
}

Block block_of(std::int64_t rows, std::int64_t columns, const Layout& layout, const Grid& grid, int rank) {
    return {split_block(rows, layout.rows, grid, rank), split_block(columns, layout.columns, grid, rank)};
}

namespace {

std::string splitting_axes(const Axes& axes, const Grid& grid) {
    std::string letters;
    for (const Axis axis : axes) {
        if (grid.extent(axis) > 1) letters += static_cast<char>('x' + static_cast<int>(axis));
    }
    return letters;
}

}  // namespace

bool same_placement(const Layout& a, const Layout& b, const Grid& grid) {
    return splitting_axes(a.rows, grid) == splitting_axes(b.rows, grid) &&
           splitting_axes(a.columns, grid) == splitting_axes(b.columns, grid) &&
           splitting_axes(a.partial, grid) == splitting_axes(b.partial, grid);
}

Layout layout_c() { return {Axes::parse("xz"), Axes::parse("y"), {}}; }
Layout layout_r() { return {Axes::parse("xzy"), {}, {}}; }
Layout layout_replicated() { return {}; }
Layout layout_partial() { return {{}, {}, Axes::parse("xyz")}; }

}  // namespace gnnplan
