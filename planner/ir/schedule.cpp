#include <gnnplan/base/checked.hpp>
#include <gnnplan/base/error.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/schedule.hpp>
#include <gnnplan/ir/shared_clones.hpp>

#include <algorithm>
#include <optional>

namespace gnnplan {

bool is_resident(Role role) {
    return role != Role::transient && role != Role::cached && role != Role::edges && role != Role::summands;
}

bool has_counted_rows(Role role) { return role == Role::edges || role == Role::summands || role == Role::in_flight; }

bool is_model_state(Role role) { return role == Role::weight || role == Role::bias || role == Role::moment; }

Range rows_of(const Schedule& schedule, const Tensor& tensor, int rank) {
    return split_block(tensor.rows, tensor.layout.rows, schedule.grid, rank);
}

Block block_of(const Schedule& schedule, const Tensor& tensor, int rank) {
    return block_of(tensor.rows, tensor.columns, tensor.layout, schedule.grid, rank);
}

Block block_of(const Schedule& schedule, TensorId id, int rank) {
    return block_of(schedule, tensor_of(schedule, id), rank);
}

void set_groups(Schedule& schedule, const std::vector<std::int64_t>& first) {
    ensure(schedule.grid.grouped() && first.size() == schedule.grid.groups.size(), "groups stay as many as they are");
    schedule.grid.groups = first;
    for (Space& space : schedule.spaces) {
        if (space.of_groups) space.rows = first.back();
    }
    for (Tensor& tensor : schedule.tensors) {
        if (of_groups(schedule, tensor.space)) tensor.rows = first.back();
        if (tensor.role == Role::adjacency && of_groups(schedule, tensor.column_space)) tensor.columns = first.back();
    }
}

std::int64_t block_bytes(const Schedule& schedule, TensorId id, int rank) {
    return bytes_of(tensor_of(schedule, id).dtype, block_of(schedule, id, rank).count());
}

Range adjacency_rows(const Schedule& schedule, int rank) {
    std::optional<Range> all;
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        if (schedule.tensors[id].role != Role::adjacency) continue;
        const Range rows = block_of(schedule, static_cast<TensorId>(id), rank).rows;
        all = all ? Range{std::min(all->begin, rows.begin), std::max(all->end, rows.end)} : rows;
    }
    ensure(all.has_value(), "a schedule multiplies by an adjacency");
    return *all;
}

std::int64_t edges_of(const Schedule& schedule, TensorId adjacency, const GraphStats& graph, int rank) {
    const Tensor& matrix = tensor_of(schedule, adjacency);
    const Range rows = block_of(schedule, adjacency, rank).rows;
    if (deals_rows(matrix)) return graph.block_nonzeros(matrix.matrix(), rows, {0, matrix.columns});
    std::int64_t nonzeros = 0;
    for (const Piece& piece : pieces_of(schedule.grid, matrix, rank))
        nonzeros += graph.block_nonzeros(matrix.matrix(), rows, piece.columns);
    return nonzeros;
}

// Rows with a nonzero are columns with one of the transpose.
std::int64_t targets_in(const Schedule& schedule, TensorId adjacency, const GraphStats& graph, int rank, Range rows) {
    const Tensor& matrix = tensor_of(schedule, adjacency);
    return graph.distinct_columns(transpose_of(matrix.matrix_on(schedule.grid, rank)), {0, matrix.columns}, rows);
}

std::int64_t stored_rows(const Schedule& schedule, TensorId adjacency, const GraphStats& graph, int rank) {
    const Range rows = block_of(schedule, adjacency, rank).rows;
    return tensor_of(schedule, adjacency).cut() ? targets_in(schedule, adjacency, graph, rank, rows) : rows.size();
}

std::int64_t elements_of(const Schedule& schedule, TensorId id, const GraphStats& graph, int rank) {
    const Tensor& tensor = tensor_of(schedule, id);
    const Block block = block_of(schedule, id, rank);
    if (tensor.role == Role::in_flight) return floats_in_flight(schedule, id, graph, rank);
    if (tensor.role == Role::summands)
        return stored_rows(schedule, *tensor.structure, graph, rank) * block.columns.size();
    if (tensor.role != Role::edges) return block.count();
    return edges_of(schedule, *tensor.structure, graph, rank) * block.columns.size();
}

Axis partial_axis(const Tensor& tensor) {
    ensure(tensor.layout.partial.size() == 1, "a reduce-scatter sums over one axis");
    return tensor.layout.partial[0];
}

}  // namespace gnnplan
