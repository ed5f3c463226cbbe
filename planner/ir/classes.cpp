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

// What else tells coordinates of an axis apart: a list of numbers for each; none for any.
using Marks = std::vector<std::vector<std::int64_t>>;

// The class of each coordinate of an axis that splits `wholes`.
std::vector<int> coordinate_classes(const Sizes& wholes, int extent, bool neighbours, const Marks& marks) {
    std::map<std::vector<std::int64_t>, int> known;
    std::vector<int> classes;
    for (int i = 0; i < extent; ++i) {
        std::vector<std::int64_t> sizes;
        for (const std::int64_t whole : wholes) {
            sizes.push_back(balanced_block({0, whole}, i, extent).size());
            if (neighbours) sizes.push_back(balanced_block({0, whole}, (i + extent - 1) % extent, extent).size());
        }
        if (!marks.empty()) {
            const auto& mark = marks[static_cast<std::size_t>(i)];
            sizes.insert(sizes.end(), mark.begin(), mark.end());
        }
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

// How many pieces of a product the block of each coordinate along x is, or the nonzeros that each along y stores: with
// the sizes of blocks all that the messages of a rank depend on, but for what distinct columns differ by.
Marks piece_counts(const Grid& grid, const std::vector<const Tensor*>& gathered, Axis axis) {
    Marks marks(static_cast<std::size_t>(grid.extent(axis)));
    for (int i = 0; i < grid.extent(axis); ++i) {
        const int root = grid.neighbour(0, axis, i);
        // Of y-coordinate 0 the nonzeros are asked for by another rank of the group; there is one.
        const int user = axis == Axis::y && i == 0 ? grid.neighbour(0, Axis::y, 1) : 0;
        for (const Tensor* matrix : gathered)
            marks[static_cast<std::size_t>(i)].push_back(std::ssize(pieces_of(grid, *matrix, root, user)));
    }
    return marks;
}

Marks distinct(int extent) {
    Marks marks;
    for (int i = 0; i < extent; ++i) marks.push_back({i});
    return marks;
}

}  // namespace

RankClasses rank_classes(const Schedule& schedule, bool neighbours) {
    const Grid& grid = schedule.grid;
    Sizes rows;
    Sizes widths;
    std::vector<const Tensor*> gathered;  // adjacencies whose pieces are not whole blocks of dense operands
    bool dealt = false;                   // over the ranks of a y-group
    for (const Tensor& tensor : schedule.tensors) {
        const bool sparse = tensor.role == Role::adjacency;
        if (!tensor.layout.rows.empty()) rows.insert(tensor.rows);
        if (sparse) rows.insert(tensor.columns);
        // Weights have the widths of all dense operands, of this schedule and of others of the same network.
        if (!sparse && !tensor.layout.columns.empty()) widths.insert(tensor.columns);
        if (tensor.role == Role::weight) widths.insert({tensor.rows, tensor.columns});
        if (sparse && gathers_matrix(grid, tensor)) gathered.push_back(&tensor);
        dealt = dealt || (sparse && contraction_axis(grid, tensor) == Axis::y);
    }
    const Sizes in_x = blocks_of_all(rows, grid.x);
    Sizes split_by_y = blocks_of_all(in_x, grid.z);
    split_by_y.insert(widths.begin(), widths.end());
    const auto marks = [&](Axis axis) {
        if (gathered.empty()) return Marks{};
        return neighbours ? distinct(grid.extent(axis)) : piece_counts(grid, gathered, axis);
    };
    const std::vector<int> x = coordinate_classes(rows, grid.x, false, marks(Axis::x));
    const std::vector<int> z = coordinate_classes(in_x, grid.z, neighbours, {});
    const std::vector<int> y = coordinate_classes(split_by_y, grid.y, neighbours, marks(Axis::y));
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
