#include "planner/ir/schedule_checks.hpp"

#include <gnnplan/base/checked.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/shared_clones.hpp>

#include <algorithm>
#include <set>

namespace gnnplan {
namespace {

constexpr std::int64_t max_vertices = (std::int64_t{1} << 31) - 1;  // columns are stored in 32 bits
constexpr std::int64_t max_width = (std::int64_t{1} << 31) - 1;     // layer widths

void check_grid(const Grid& grid) {
    for (const int extent : {grid.x, grid.y, grid.z}) {
        if (extent < 1 || extent > max_ranks) refuse("grid", "extents must be 1.." + std::to_string(max_ranks));
    }
    if (checked_multiply(checked_multiply(grid.x, grid.y), grid.z) > max_ranks) refuse("grid", "too many ranks");
}

// Groups are the ranks of one x each, and follow each other in the numbering of ranks as their rows do.
void check_groups(const Schedule& schedule) {
    const Grid& grid = schedule.grid;
    const auto& spaces = schedule.spaces;
    const auto grouped = std::ranges::count_if(spaces, &Space::of_groups);
    if (!grid.grouped()) {
        if (grouped > 0) refuse("spaces", "there are no groups of ranks");
        return;
    }
    const std::vector<std::int64_t>& first = grid.groups;
    const bool fits = std::ssize(first) == grid.x + 1 && first.front() == 0 && std::ranges::is_sorted(first) &&
                      grid.z == 1 && grid.nearest == Axis::y;
    const bool all =
        grouped == 1 && spaces.size() == 2 && spaces.back().of_groups && spaces.back().rows == first.back();
    if (!fits || !all) refuse("grid", "groups must have rows of their own, one after the other, to the last of all");
}

// An adjacency of groups has columns where it has rows.
void check_layout(const Tensor& tensor) {
    std::set<Axis> used;
    if (!tensor.in_groups() && tensor.layout.columns.contains(Axis::x) && tensor.layout != layout_columns())
        refuse("tensor " + tensor.name, "only adjacencies of groups have columns split over x beside rows");
    const Axes columns = tensor.in_groups() ? Axes() : tensor.layout.columns;
    for (const Axes& axes : {tensor.layout.rows, columns, tensor.layout.partial}) {
        for (const Axis axis : axes) {
            if (!used.insert(axis).second) refuse("tensor " + tensor.name, "a grid axis is used twice in its layout");
        }
    }
}

// A tensor that the executor fills from data or keeps as model state has one type and layout, whether a step uses it or
// not.
bool fits_role(const Tensor& tensor) {
    const auto is = [&](DType dtype, const Layout& layout) { return tensor.dtype == dtype && tensor.layout == layout; };
    const auto per_row = [&](DType dtype) {
        return tensor.columns == 1 && (is(dtype, layout_r()) || is(dtype, layout_f()));
    };
    const auto by_element = [&](DType dtype) {
        return is(dtype, layout_c()) || is(dtype, layout_r()) || is(dtype, layout_f());
    };
    switch (tensor.role) {
        case Role::adjacency: {
            const std::string columns = tensor.layout.columns.text();
            return is(DType::f32, {layout_r().rows, {}, {}}) ||
                   is(DType::f32, {layout_r().rows, Axes::parse("x"), {}}) ||
                   is(DType::f32, {{}, {}, Axes::parse("x")}) ||
                   (is(DType::f32, {Axes::parse("x"), tensor.layout.columns, {}}) &&
                    (columns == "z" || columns == "zy" || columns == "y" || columns == "x"));
        }
        case Role::features: return by_element(DType::f32);
        case Role::labels: return per_row(DType::i32) || by_element(DType::bits) || is(DType::bits, layout_columns());
        case Role::known_labels: return by_element(DType::bits) || is(DType::bits, layout_columns());
        case Role::vertices: return per_row(DType::i32);
        case Role::subset: return per_row(DType::u8) || (tensor.columns == 1 && is(DType::u8, layout_replicated()));
        case Role::counts_as: return per_row(DType::f32);
        case Role::weight:
        case Role::bias:
        case Role::moment: return is(DType::f32, layout_replicated());
        case Role::edges: {
            const Axes& partial = tensor.layout.partial;
            const bool dealt = is(DType::f32, {layout_r().rows, {}, {}});
            const bool by_heads = is(DType::f32, {Axes::parse("x"), Axes::parse("y"), {}});
            return (partial.empty() || partial == Axes::parse("y")) &&
                   (dealt || by_heads || is(DType::f32, {Axes::parse("x"), {}, partial}));
        }
        case Role::in_flight: return is(DType::f32, {Axes::parse("x"), Axes::parse("y"), {}});
        case Role::summands: return is(DType::f32, {{}, Axes::parse("y"), Axes::parse("x")});
        case Role::cached:
        case Role::transient: return true;
    }
    return false;
}

void check_tensor(const Grid& grid, const Tensor& tensor) {
    const std::string where = "tensor " + tensor.name;
    if (tensor.name.empty()) refuse("tensors", "a tensor has no name");
    if (tensor.rows < 1 || tensor.rows > max_vertices) refuse(where, "rows must be 1..2^31-1");
    if (tensor.columns < 1 || tensor.columns > max_width) refuse(where, "columns must be 1..2^31-1");
    const Storage& storage = tensor.storage;
    const int most = tensor.role == Role::adjacency ? most_splits(grid) : 1;
    if (storage.splits < 1 || storage.splits > most)
        refuse(where, "splits must be 1.." + std::to_string(most) + ", on this grid and of its role");
    if (storage.ahead < 0 || storage.ahead > storage.splits) refuse(where, "ahead must be 0..splits");
    const bool shared = tensor.structure && !has_counted_rows(tensor.role);
    const bool plain = storage == Storage{.splits = storage.splits, .ahead = storage.ahead} && !shared;
    if (!plain && tensor.role != Role::adjacency) refuse(where, "only adjacencies are factored, paneled or shared");
    if (tensor.storage.panel_columns < 0) refuse(where, "panel_columns must not be negative");
    check_layout(tensor);
    if (!fits_role(tensor)) refuse(where, "its type, shape or layout is not that of its role");
}

// Every sum of bytes over tensors, steps and ranks fits 64 bits: no step sends more than four times what all ranks
// together would hold of its operands.
void check_total_size(const Schedule& schedule) try {
    std::int64_t bytes = 0;
    for (const Tensor& tensor : schedule.tensors) {
        // Only the row starts of an adjacency are known here; its nonzeros are bounded with the graph.
        const std::int64_t columns =
            tensor.role == Role::adjacency
                ? checked_multiply(checked_multiply(schedule.grid.x, tensor.storage.splits),
                                   panel_count(tensor.columns, tensor.storage.panel_columns) + 1)
                : tensor.columns;
        bytes = checked_add(bytes, checked_multiply(8, checked_multiply(tensor.rows, columns)));
    }
    const auto steps = static_cast<std::int64_t>(schedule.steps.size()) + 1;
    checked_multiply(checked_multiply(checked_multiply(bytes, 4), steps), schedule.grid.size());
} catch (const Error&) {
    refuse("tensors", "their sizes times steps and ranks do not fit 64 bits");
}

// Values of the nonzeros of a matrix of which every rank has whole rows: then what others have of its transpose lies in
// pieces that follow each other. Rows may be dealt over y.
void check_edges(const Schedule& schedule, const Tensor& edges, const Tensor& matrix) {
    const Layout whole{Axes::parse("x"), Axes::parse(matrix.in_groups() ? "x" : "z"), {}};
    const Layout dealt{layout_r().rows, matrix.in_groups() ? whole.columns : Axes(), {}};
    const bool fits = matrix.role == Role::adjacency && (matrix.layout == whole || matrix.layout == dealt) &&
                      matrix.layout.rows == edges.layout.rows && schedule.grid.z == 1 && matrix.rows == edges.rows &&
                      matrix.space == edges.space;
    if (!fits) refuse("tensor " + edges.name, "its structure must be an adjacency of its rows, whole");
}

// A transpose that uses the nonzeros of a matrix, before it in the table, of the same sizes, cut in the same way.
void check_structure(const Schedule& schedule, std::size_t id) {
    const Tensor& tensor = schedule.tensors[id];
    if (!tensor.structure && (tensor.role == Role::edges || tensor.role == Role::summands))
        refuse("tensor " + tensor.name, "edges and summands need a structure");
    if (!tensor.structure) return;
    const auto of = static_cast<std::size_t>(*tensor.structure);
    if (of >= id) refuse("tensor " + tensor.name, "its structure must be a tensor before it");
    const Tensor& stored = schedule.tensors[of];
    if (tensor.role == Role::edges) return check_edges(schedule, tensor, stored);
    if (tensor.role == Role::summands) {
        const bool of_rows = stored.cut() && stored.rows == tensor.rows && stored.space == tensor.space;
        if (!of_rows) refuse("tensor " + tensor.name, "its structure must be a cut adjacency of its rows");
        return;
    }
    const bool fits = stored.role == Role::adjacency && !stored.structure && stored.storage.factored &&
                      stored.transposed != tensor.transposed && stored.rows == tensor.rows &&
                      stored.columns == tensor.columns && stored.rows == stored.columns &&
                      stored.layout == tensor.layout && stored.storage == tensor.storage;
    if (!fits)
        refuse("tensor " + tensor.name, "its structure must be its square, factored transpose, cut in the same way");
}

// Ranks along x have the parts of the cut that the vertices are numbered by.
void check_cut(const Schedule& schedule, const Tensor& tensor) {
    if (!tensor.cut()) return;
    const Grid& grid = schedule.grid;
    const Numbering& numbering = schedule.numbering;
    if (grid.z > 1 || tensor.sample > 0 || numbering.cut == CutRule::none || numbering.parts != grid.x ||
        numbering.loss_layers > 0)
        refuse("tensor " + tensor.name,
               "its edges must be those of a cut in as many parts as the grid has ranks along x");
}

// Groups keep rows in flight where clones get sums of each other's later.
void check_in_flight(const Schedule& schedule, const Tensor& tensor) {
    if (tensor.role != Role::in_flight) return;
    const bool fits = of_groups(schedule, tensor.space) && shares_later(schedule) && !tensor.structure;
    if (!fits) refuse("tensor " + tensor.name, "no clones get sums of each other's later");
}

void check_spaces(const Schedule& schedule) {
    const std::int64_t vertices = schedule.spaces.empty() ? 0 : schedule.spaces.front().rows;
    for (const Space& space : schedule.spaces) {
        const bool whole = &space == &schedule.spaces.front();
        const bool part = space.needed_of > 0 && space.rows <= vertices;
        const bool fits = whole ? space.needed_of == 0 && !space.of_groups : part != space.of_groups;
        if (space.rows < 1 || !fits)
            refuse("space " + space.name, "all vertices must come first, and then parts of them or those of groups");
    }
}

void check_parameters(const Schedule& schedule) {
    for (const Parameter& parameter : schedule.parameters) {
        const auto& shape = parameter.shape;
        const bool fits = (shape.size() == 1 || shape.size() == 2) &&
                          std::all_of(shape.begin(), shape.end(), [](auto n) { return n >= 1 && n <= max_width; });
        if (!fits) refuse("parameter " + parameter.name, "its shape must be one or two extents of 1..2^31-1");
    }
}

// The rows, the columns and the parameter that a tensor names are there and fit.
void check_references(const Schedule& schedule, const Tensor& tensor) {
    const std::string where = "tensor " + tensor.name;
    const auto check_extent = [&](const std::optional<int>& space, std::int64_t extent) {
        if (!space) return;
        const auto id = static_cast<std::size_t>(*space);
        if (id >= schedule.spaces.size() || schedule.spaces[id].rows != extent)
            refuse(where, "its size is not that of its space");
    };
    check_extent(tensor.space, tensor.rows);
    check_extent(tensor.column_space, tensor.columns);
    const bool by_group = tensor.in_groups();
    if (tensor.role == Role::adjacency &&
        (by_group != of_groups(schedule, tensor.space) || by_group != of_groups(schedule, tensor.column_space)))
        refuse(where, "its rows and columns are those of groups, or neither is");
    if (!tensor.parameter) return;
    const auto id = static_cast<std::size_t>(*tensor.parameter);
    const bool fits = id < schedule.parameters.size() && schedule.parameters[id].rows() == tensor.rows &&
                      schedule.parameters[id].columns() == tensor.columns &&
                      (tensor.role == Role::weight || tensor.role == Role::bias);
    if (!fits) refuse(where, "its shape is not that of its parameter");
}

}  // namespace

void check_tensors(const Schedule& schedule) {
    check_grid(schedule.grid);
    check_spaces(schedule);
    check_groups(schedule);
    check_parameters(schedule);
    std::set<std::string> names;
    for (const Tensor& tensor : schedule.tensors) {
        check_tensor(schedule.grid, tensor);
        check_references(schedule, tensor);
        check_cut(schedule, tensor);
        check_in_flight(schedule, tensor);
        if (!names.insert(tensor.name).second) refuse("tensor " + tensor.name, "the name is used twice");
        if (tensor.role == Role::adjacency && tensor.layout.columns == Axes::parse("y") && schedule.grid.z > 1) {
            refuse("tensor " + tensor.name, "its contraction side is dealt over y on a grid with z");
        }
    }
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) check_structure(schedule, id);
    check_total_size(schedule);
}

}  // namespace gnnplan
