#include "planner/ir/coordinate_classes.hpp"

#include "planner/ir/dealt_blocks.hpp"

#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <map>

namespace gnnplan {

std::set<std::int64_t> changes(const Sizes& wholes, int extent, bool neighbours) {
    std::set<std::int64_t> first{0};
    if (neighbours) first.insert(1);
    for (const std::int64_t whole : wholes) {
        first.insert(whole % extent);
        if (neighbours) first.insert(whole % extent + 1);
    }
    first.erase(first.lower_bound(extent), first.end());
    return first;
}

std::vector<int> coordinate_classes(const Sizes& wholes, int extent, bool neighbours, const Marks& marks) {
    std::map<std::vector<std::int64_t>, int> known;
    std::vector<int> classes;
    const std::set<std::int64_t> changing = changes(wholes, extent, neighbours);
    for (int i = 0; i < extent; ++i) {
        if (marks.empty() && !changing.contains(i)) {
            classes.push_back(classes.back());
            continue;
        }
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

std::vector<int> hand_classes(const Sizes& rows, const Grid& grid) {
    std::map<std::vector<std::int64_t>, int> known;
    std::vector<int> classes;
    for (int iy = 0; iy < grid.y; ++iy) {
        const Range hand = balanced_block({0, grid.x}, iy, grid.y);
        std::vector<std::int64_t> key{hand.size()};
        for (const std::int64_t whole : rows) {
            const auto start = [&](std::int64_t i) {
                return i * (whole / grid.x) + std::min<std::int64_t>(i, whole % grid.x);
            };
            key.push_back(start(hand.end) - start(hand.begin));
        }
        classes.push_back(known.try_emplace(key, static_cast<int>(known.size())).first->second);
    }
    return classes;
}

int served_hands(const Grid& grid, const std::vector<int>& hands, int ix, int iy) {
    const int served = hand_with(grid, ix);
    return served == iy ? -1 : hands[static_cast<std::size_t>(served)];
}

namespace {

// Where the blocks of `whole` columns begin.
Sizes starts_of_blocks(std::int64_t whole, Axes axes, const Grid& grid) {
    Sizes starts;
    for (int rank = 0; rank < grid.size(); ++rank) starts.insert(split_block(whole, axes, grid, rank).begin);
    return starts;
}

bool within_one_block(const Range& range, const Sizes& starts) {
    const auto next = starts.upper_bound(range.begin);
    return next == starts.end() || *next >= range.end;
}

// How the columns of a rank in both splits of `whole` lie to each other, for each rank at the back of its key.
void add_overlaps(std::int64_t whole, const Grid& grid, std::vector<std::vector<std::int64_t>>& keys) {
    const Axes all = layout_columns().columns, group = layout_c().columns;
    const Sizes starts_of_all = starts_of_blocks(whole, all, grid);
    const Sizes starts_of_group = starts_of_blocks(whole, group, grid);
    for (int rank = 0; rank < grid.size(); ++rank) {
        const Range of_all = split_block(whole, all, grid, rank);
        const Range of_group = split_block(whole, group, grid, rank);
        for (const std::int64_t mark :
             {intersect(of_all, of_group).size(), std::int64_t{within_one_block(of_all, starts_of_group)},
              std::int64_t{within_one_block(of_group, starts_of_all)}})
            keys[static_cast<std::size_t>(rank)].push_back(mark);
    }
}

}  // namespace

std::vector<int> overlap_classes(const Sizes& widths, const Grid& grid) {
    std::vector<std::vector<std::int64_t>> keys(static_cast<std::size_t>(grid.size()));
    for (const std::int64_t whole : widths) add_overlaps(whole, grid, keys);
    std::map<std::vector<std::int64_t>, int> known;
    std::vector<int> classes;
    classes.reserve(keys.size());
    for (const auto& key : keys)
        classes.push_back(known.try_emplace(key, static_cast<int>(known.size())).first->second);
    return classes;
}

Marks piece_counts(const Grid& grid, const std::vector<const Tensor*>& gathered, Axis axis) {
    Marks marks(static_cast<std::size_t>(grid.extent(axis)));
    for (int i = 0; i < grid.extent(axis); ++i) {
        const int root = grid.neighbour(0, axis, i);
        // On y-coordinate 0 another rank of the group, if there is one, asks for the nonzeros.
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

}  // namespace gnnplan
