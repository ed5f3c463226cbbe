// Reading guide: a balanced split has blocks of two sizes, so the coordinates of an axis fall into few classes. Along
// x, coordinates are alike when their blocks of every row count are; along z, when their sub-blocks of every x-block
// are; along y, when their sub-blocks of every (x, z)-block are, and their column blocks of every width; and when all
// that holds for their left neighbours in the rings of reduce-scatters too. Ranks alike in all three have the same
// blocks, and their peers differ from them in one coordinate only, so those have too.
#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace gnnplan {
namespace {

using Sizes = std::set<std::int64_t>;

// Sizes of the blocks of all `wholes` split over `extent`; an axis of extent 1 splits nothing.
Sizes blocks_of_all(const Sizes& wholes, int extent) {
    Sizes sizes;
    for (const std::int64_t whole : wholes) {
        sizes.insert(whole / extent);
        sizes.insert((whole + extent - 1) / extent);
    }
    return sizes;
}

// The class of each coordinate of an axis that splits `wholes`; with `distinct`, each is its own.
std::vector<int> coordinate_classes(const Sizes& wholes, int extent, bool neighbours, bool distinct) {
    std::map<std::vector<std::int64_t>, int> known;
    std::vector<int> classes;
    for (int i = 0; i < extent; ++i) {
        std::vector<std::int64_t> sizes;
        for (const std::int64_t whole : wholes) {
            sizes.push_back(balanced_block({0, whole}, i, extent).size());
            if (neighbours) sizes.push_back(balanced_block({0, whole}, (i + extent - 1) % extent, extent).size());
        }
        if (distinct) sizes.push_back(i);
        classes.push_back(known.try_emplace(sizes, static_cast<int>(known.size())).first->second);
    }
    return classes;
}

// The blocks that CAGNET's 1.5D deals to a rank: how many, of how many rows, and whether its own is among them; which
// one where turns do not come out even, so that its owner serves more ranks at some step than others do.
void add_hand(std::vector<std::int64_t>& key, const Sizes& rows, const Grid& grid, int rank) {
    const Range hand = balanced_block({0, grid.x}, grid.coordinate(rank, Axis::y), grid.y);
    const int own = grid.coordinate(rank, Axis::x);
    key.push_back(hand.size());
    const bool mine = hand.begin <= own && own < hand.end;
    const bool even_turns = mine && grid.x % hand.size() == 0;
    key.push_back(!mine ? -1 : even_turns ? 0 : own - hand.begin);
    for (const std::int64_t whole : rows) {
        const auto start = [&](std::int64_t i) {
            return i * (whole / grid.x) + std::min<std::int64_t>(i, whole % grid.x);
        };
        key.push_back(start(hand.end) - start(hand.begin));
    }
}

}  // namespace

RankClasses rank_classes(const Schedule& schedule, bool neighbours) {
    const Grid& grid = schedule.grid;
    Sizes rows;
    Sizes widths;
    bool even_pieces = true;  // pieces are whole blocks of dense operands
    bool dealt = false;       // over the ranks of a y-group
    for (const Tensor& tensor : schedule.tensors) {
        const bool sparse = tensor.role == Role::adjacency;
        if (!tensor.layout.rows.empty()) rows.insert(tensor.rows);
        if (sparse) rows.insert(tensor.columns);
        // Weights have the widths of all dense operands, of this schedule and of others of the same network.
        if (!sparse && !tensor.layout.columns.empty()) widths.insert(tensor.columns);
        if (tensor.role == Role::weight) widths.insert({tensor.rows, tensor.columns});
        if (sparse && gathers_matrix(grid, tensor)) even_pieces = false;
        dealt = dealt || (sparse && contraction_axis(grid, tensor) == Axis::y);
    }
    const Sizes in_x = blocks_of_all(rows, grid.x);
    Sizes split_by_y = blocks_of_all(in_x, grid.z);
    split_by_y.insert(widths.begin(), widths.end());
    const std::vector<int> x = coordinate_classes(rows, grid.x, false, !even_pieces);
    const std::vector<int> z = coordinate_classes(in_x, grid.z, neighbours, false);
    const std::vector<int> y = coordinate_classes(split_by_y, grid.y, neighbours, !even_pieces);
    RankClasses classes;
    std::map<std::vector<std::int64_t>, int> known;
    for (int rank = 0; rank < grid.size(); ++rank) {
        const auto of = [&](const std::vector<int>& axis, Axis which) {
            return axis[static_cast<std::size_t>(grid.coordinate(rank, which))];
        };
        std::vector<std::int64_t> key{of(x, Axis::x), of(y, Axis::y), of(z, Axis::z)};
        if (dealt) add_hand(key, rows, grid, rank);
        const auto [entry, is_new] = known.try_emplace(key, static_cast<int>(known.size()));
        if (is_new) classes.representative.push_back(rank);
        classes.class_of.push_back(entry->second);
    }
    return classes;
}

}  // namespace gnnplan
