// Reading guide: a balanced split has blocks of two sizes, so the coordinates of an axis fall into few classes. Along
// x, coordinates are alike when their blocks of every row count are; along z, when their sub-blocks of every x-block
// are; along y, when their sub-blocks of every (x, z)-block are, and their column blocks of every width; and when all
// that holds for their left neighbours in the rings of reduce-scatters too. Ranks alike in all three have the same
// blocks, and their peers differ from them in one coordinate only, so those have too. Columns over all ranks are split
// along x, z and y as rows are. A redistribution to them is between all ranks; out of C its messages go by where blocks
// of columns overlap, too, so ranks that differ in this are told apart besides.
#include "planner/ir/coordinate_classes.hpp"

#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/pieces.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

namespace gnnplan {
namespace {

// Sizes of the blocks of all `wholes` split over `extent`; an axis of extent 1 splits nothing.
Sizes blocks_of_all(const Sizes& wholes, int extent) {
    Sizes sizes;
    for (const std::int64_t whole : wholes) {
        sizes.insert(whole / extent);
        sizes.insert((whole + extent - 1) / extent);
    }
    return sizes;
}

// How coordinates are told apart where products gather nonzeros.
enum class Gathering : std::uint8_t { ignored, by_pieces, apart };

// The properties that decide the sizes of blocks of some tensors.
struct Shapes {
    void add(const Grid& grid, const Tensor& tensor);

    Sizes rows;
    Sizes widths;
    Sizes over_all;                       // widths of the tensors whose columns are split over all ranks
    std::vector<const Tensor*> gathered;  // adjacencies whose pieces are not whole blocks of dense operands
    bool dealt = false;                   // over the ranks of a y-group

    // Sizes that the x-blocks of all rows have, and what an axis y splits.
    Sizes in_x(const Grid& grid) const { return blocks_of_all(rows, grid.x); }
    Sizes split_by_y(const Grid& grid) const {
        Sizes split = blocks_of_all(in_x(grid), grid.z);
        split.insert(widths.begin(), widths.end());
        return split;
    }
};

void Shapes::add(const Grid& grid, const Tensor& tensor) {
    const bool sparse = tensor.role == Role::adjacency;
    if (!tensor.layout.rows.empty()) rows.insert(tensor.rows);
    if (tensor.layout == layout_columns()) rows.insert(tensor.columns), over_all.insert(tensor.columns);
    if (sparse) rows.insert(tensor.columns);
    // Weights have the widths of all dense operands, of this schedule and of others of the same network.
    if (!sparse && !tensor.layout.columns.empty()) widths.insert(tensor.columns);
    if (tensor.role == Role::weight) widths.insert({tensor.rows, tensor.columns});
    if (sparse && gathers_matrix(grid, tensor)) gathered.push_back(&tensor);
    dealt = dealt || (sparse && contraction_axis(grid, tensor) == Axis::y);
}

Shapes shapes_of(const Schedule& schedule) {
    Shapes shapes;
    for (const Tensor& tensor : schedule.tensors) shapes.add(schedule.grid, tensor);
    return shapes;
}

Shapes shapes_of(const Schedule& schedule, const Operation& operation) {
    Shapes shapes;
    const Operands operands = operands_of(operation);
    for (const auto* ids : {&operands.reads, &operands.writes}) {
        for (const TensorId id : *ids) shapes.add(schedule.grid, tensor_of(schedule, id));
    }
    return shapes;
}

// Ranks of equal classes along every axis, of equal hands, and of equal overlaps.
RankClasses combined(const Grid& grid, const std::vector<int>& x, const std::vector<int>& y, const std::vector<int>& z,
                     const std::vector<int>& hands, const std::vector<int>& overlaps) {
    RankClasses classes;
    std::map<std::array<std::int64_t, 6>, int> known;
    classes.class_of.resize(static_cast<std::size_t>(grid.size()));
    for (int ix = 0; ix < grid.x; ++ix) {
        for (int iz = 0; iz < grid.z; ++iz) {
            for (int iy = 0; iy < grid.y; ++iy) {
                const auto at = [](const std::vector<int>& of, int i) { return of[static_cast<std::size_t>(i)]; };
                const bool dealt = !hands.empty();
                const int rank = grid.rank_at(ix, iy, iz);
                const auto [entry, is_new] = known.try_emplace(
                    {at(x, ix), at(y, iy), at(z, iz), dealt ? at(hands, iy) : 0,
                     dealt ? served_hands(grid, hands, ix, iy) : 0, overlaps.empty() ? 0 : at(overlaps, rank)},
                    static_cast<int>(known.size()));
                if (is_new) classes.representative.push_back(rank);
                classes.class_of[static_cast<std::size_t>(rank)] = entry->second;
            }
        }
    }
    return classes;
}

RankClasses every_rank_apart(const Grid& grid) {
    RankClasses classes;
    classes.class_of.resize(static_cast<std::size_t>(grid.size()));
    std::iota(classes.class_of.begin(), classes.class_of.end(), 0);
    classes.representative = classes.class_of;
    return classes;
}

// Whether an operand has rows of groups, which are of any sizes.
bool has_rows_of_groups(const Schedule& schedule, const Operation& operation) {
    if (!schedule.grid.grouped()) return false;
    const Operands operands = operands_of(operation);
    const auto split = [&](TensorId id) { return tensor_of(schedule, id).layout.rows.contains(Axis::x); };
    return std::any_of(operands.reads.begin(), operands.reads.end(), split) ||
           std::any_of(operands.writes.begin(), operands.writes.end(), split);
}

// Whether more than sizes of balanced blocks decides what a rank has in a step: which rows of one space are where those
// of another lie depends on the rank, too, and groups have rows of their own.
bool tells_ranks_apart(const Schedule& schedule, const Operation& operation) {
    const bool to_columns = tensor_of(schedule, subject_of(operation)).layout == layout_columns();
    return (moves_across_groups(schedule, operation) && !to_columns) || has_rows_of_groups(schedule, operation);
}

bool tells_ranks_apart(const Schedule& schedule) {
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [&](const Step& step) { return tells_ranks_apart(schedule, step.operation); });
}

RankClasses classes_of(const Grid& grid, const Shapes& shapes, bool neighbours, Gathering gathering) {
    const auto marks = [&](Axis axis) {
        if (shapes.gathered.empty() || gathering == Gathering::ignored) return Marks{};
        return gathering == Gathering::apart ? distinct(grid.extent(axis)) : piece_counts(grid, shapes.gathered, axis);
    };
    return combined(grid, coordinate_classes(shapes.rows, grid.x, false, marks(Axis::x)),
                    coordinate_classes(shapes.split_by_y(grid), grid.y, neighbours, marks(Axis::y)),
                    coordinate_classes(shapes.in_x(grid), grid.z, neighbours, {}),
                    shapes.dealt ? hand_classes(shapes.rows, grid) : std::vector<int>{},
                    shapes.over_all.empty() ? std::vector<int>{} : overlap_classes(shapes.over_all, grid));
}

}  // namespace

RankClasses rank_classes(const Schedule& schedule, bool neighbours) {
    if (tells_ranks_apart(schedule)) return every_rank_apart(schedule.grid);
    return classes_of(schedule.grid, shapes_of(schedule), neighbours,
                      neighbours ? Gathering::apart : Gathering::by_pieces);
}

RankClasses size_classes(const Schedule& schedule, bool neighbours) {
    if (tells_ranks_apart(schedule)) return every_rank_apart(schedule.grid);
    return classes_of(schedule.grid, shapes_of(schedule), neighbours, Gathering::ignored);
}

const RankClasses& StepClasses::of(const Schedule& schedule, const Operation& operation) {
    if (tells_ranks_apart(schedule, operation)) {
        if (!apart_) apart_ = every_rank_apart(schedule.grid);
        return *apart_;
    }
    const Shapes shapes = shapes_of(schedule, operation);
    const auto [entry, is_new] = known_.try_emplace({shapes.rows, shapes.widths, shapes.over_all, shapes.dealt});
    if (is_new) entry->second = classes_of(schedule.grid, shapes, true, Gathering::ignored);
    return entry->second;
}

bool exchanges(const Operation& operation) {
    return std::visit([]<class S>(const S&) { return !LocalStep<S>; }, operation);
}

bool local_by_size(const Schedule& schedule, const Operation& operation) {
    if (exchanges(operation) || logits_of(operation) || has_rows_of_groups(schedule, operation)) return false;
    const Operands operands = operands_of(operation);
    return std::none_of(operands.reads.begin(), operands.reads.end(),
                        [&](TensorId id) { return tensor_of(schedule, id).role == Role::adjacency; });
}

std::vector<int> ranks_of_all_sizes(const Schedule& schedule, const Operation& operation) {
    const Grid& grid = schedule.grid;
    const Shapes shapes = shapes_of(schedule, operation);
    std::vector<int> ranks;
    for (const std::int64_t ix : changes(shapes.rows, grid.x, false)) {
        for (const std::int64_t iz : changes(shapes.in_x(grid), grid.z, false)) {
            for (const std::int64_t iy : changes(shapes.split_by_y(grid), grid.y, false))
                ranks.push_back(grid.rank_at(static_cast<int>(ix), static_cast<int>(iy), static_cast<int>(iz)));
        }
    }
    return ranks;
}

}  // namespace gnnplan
