#include "planner/ir/arena.hpp"
#include "planner/ir/memory_parts.hpp"

#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/shared_clones.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <map>

namespace gnnplan {
namespace {

// Bytes of the numbers of rows of `matrix` that this rank needs, or passes on; 0 if needed rows are not exchanged.
std::int64_t request_bytes(const Schedule& schedule, TensorId matrix, const GraphStats& graph, int rank) {
    std::int64_t bytes = 0;
    for (const Step& step : schedule.steps) {
        const auto* request = std::get_if<RowRequestStep>(&step.operation);
        if (request != nullptr && request->matrix == matrix)
            bytes += traffic_of(schedule, step, graph, rank).sent_bytes + request->passed_bytes(schedule, graph, rank);
    }
    return bytes;
}

// Returns the bytes of the list of own rows that the rank has summands of, where edges are parts of a cut. The lists of
// others' rows are a part of its requests.
std::int64_t own_target_bytes(const Schedule& schedule, TensorId id, const GraphStats& graph, int rank) {
    const Range own = dense_rows(schedule.grid, tensor_of(schedule, id), rank);
    return 4 * targets_in(schedule, id, graph, rank, own);
}

// The largest list of scales that a host makes for a device: of the rows, or of all columns of a piece.
std::int64_t largest_scales(const Schedule& schedule, TensorId id, const GraphStats& graph, int rank) {
    const Tensor& matrix = tensor_of(schedule, id);
    std::int64_t largest = stored_rows(schedule, id, graph, rank);
    for (const Piece& piece : pieces_of(schedule.grid, matrix, rank)) largest = std::max(largest, piece.columns.size());
    return 4 * largest;
}

// The sparse blocks of an adjacency, without scales: all of them, and the largest.
struct BlockBytes {
    std::int64_t all = 0, largest = 0;
};
BlockBytes stored_block_bytes(const Schedule& schedule, TensorId id, const GraphStats& graph, int rank) {
    const Tensor& matrix = tensor_of(schedule, id);
    BlockBytes stored;
    if (matrix.structure) return stored;
    const Range rows = block_of(schedule, id, rank).rows;
    const Range stored_range{0, stored_rows(schedule, id, graph, rank)};
    const MatrixId which = matrix.matrix_on(schedule.grid, rank);
    std::vector<Range> columns;
    for (const Piece& piece : pieces_of(schedule.grid, matrix, rank)) {
        if (piece.matrix_root == rank) columns.push_back(piece.columns);
    }
    const std::vector<std::int64_t> nonzeros = graph.block_nonzeros_of(which, rows, columns);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::int64_t bytes = sparse_bytes(schedule.blocking, matrix, stored_range, columns[i], nonzeros[i]);
        stored.all += bytes;
        stored.largest = std::max(stored.largest, bytes);
    }
    return stored;
}

// A float for each row, and for each row of the dense operand that a piece meets.
std::int64_t scale_bytes(const Schedule& schedule, TensorId id, const GraphStats& graph, int rank) {
    const Tensor& matrix = tensor_of(schedule, id);
    const Range rows = block_of(schedule, id, rank).rows;
    const bool needed_rows = exchanges_needed_rows(schedule, id);
    const MatrixId which = matrix.matrix_on(schedule.grid, rank);
    std::int64_t count = stored_rows(schedule, id, graph, rank);
    std::vector<Range> needed;
    for (const Piece& piece : pieces_of(schedule.grid, matrix, rank)) {
        if (needed_rows && piece.dense_root != rank)
            needed.push_back(piece.columns);
        else
            count += piece.columns.size();
    }
    for (const std::int64_t met : graph.distinct_columns_of(which, rows, needed)) count += met;
    return 4 * count;
}

void add_sparse_bytes(const Schedule& schedule, const GraphStats& graph, int rank, MemoryPlan& plan) {
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        if (schedule.tensors[id].role != Role::adjacency) continue;
        plan.adjacency_bytes += adjacency_block_bytes(schedule, static_cast<TensorId>(id), graph, rank);
    }
    for (const Step& step : schedule.steps) {
        const auto* request = std::get_if<RowRequestStep>(&step.operation);
        if (request == nullptr) continue;
        const RankTraffic indices = traffic_of(schedule, step, graph, rank);
        plan.request_bytes += indices.sent_bytes + request->passed_bytes(schedule, graph, rank);
        plan.served_bytes += indices.received_bytes;
    }
}

// All features, which batches are filled from.
std::int64_t feature_bytes(const Schedule& schedule) {
    std::int64_t columns = 0;
    for (const Tensor& tensor : schedule.tensors) {
        if (tensor.role == Role::features) columns = std::max(columns, tensor.columns);
    }
    return 4 * schedule.spaces.front().rows * columns;
}

}  // namespace

bool exchanges_needed_rows(const Schedule& schedule, TensorId matrix) {
    const TensorId stored = tensor_of(schedule, matrix).structure.value_or(matrix);
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [&](const Step& step) { return requested_rows(step.operation) == stored; });
}

void add_load_and_peak(const Schedule& schedule, const GraphStats& graph, int rank, MemoryPlan& plan) {
    plan.request_bytes += shared_clone_bytes(schedule, graph, rank);
    plan.load_bytes = load_bytes(schedule, graph, rank);
    plan.order_bytes = order_bytes(graph, schedule.numbering);
    plan.output_vertex_bytes = output_vertex_bytes(schedule, rank);
    plan.keeps_graph = schedule.numbering.batches.has_value();
    if (plan.keeps_graph) plan.order_bytes += feature_bytes(schedule);
    plan.peak_bytes = plan.adjacency_bytes + plan.request_bytes + plan.output_vertex_bytes +
                      std::max(plan.load_bytes + plan.order_bytes, plan.arena_bytes + plan.kept_bytes());
    plan.device_peak_bytes = plan.adjacency_bytes + plan.request_bytes + plan.arena_bytes + plan.served_bytes;
}

std::vector<std::int64_t> tensor_bytes(const Schedule& schedule, const GraphStats& graph, int rank) {
    std::vector<std::int64_t> bytes;
    bytes.reserve(schedule.tensors.size());
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        const Tensor& tensor = schedule.tensors[id];
        const auto count = [&] { return elements_of(schedule, static_cast<TensorId>(id), graph, rank); };
        bytes.push_back(tensor.role == Role::adjacency ? 0 : bytes_of(tensor.dtype, count()));
    }
    return bytes;
}

std::vector<std::pair<TensorId, TensorId>> all_reordered_edges(const Schedule& schedule) {
    std::vector<std::pair<TensorId, TensorId>> pairs;
    for (const Step& step : schedule.steps) {
        const auto pair = reordered_edges(schedule, step.operation);
        if (pair && std::find(pairs.begin(), pairs.end(), *pair) == pairs.end()) pairs.push_back(*pair);
    }
    return pairs;
}

std::int64_t edge_order_bytes(const Schedule& schedule, const std::vector<std::pair<TensorId, TensorId>>& pairs,
                              const GraphStats& graph, int rank) {
    std::int64_t bytes = 0;
    for (const auto& [from, to] : pairs) bytes += 4 * edges_of(schedule, to, graph, rank);
    return bytes;
}

std::int64_t staged_bytes(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank) {
    const Staging staging = staging_of(schedule, step, graph, rank);
    return staging.send_bytes + staging.receive_bytes;
}

Staging staging_of(const Schedule& schedule, const Step& step, const GraphStats& graph, int rank) {
    return std::visit(
        [&]<class S>(const S& operation) -> Staging {
            if constexpr (LocalStep<S>)
                return {};
            else
                return operation.staging(schedule, graph, rank);
        },
        step.operation);
}

std::int64_t adjacency_block_bytes(const Schedule& schedule, TensorId id, const GraphStats& graph, int rank) {
    const Tensor& matrix = tensor_of(schedule, id);
    std::int64_t bytes = stored_block_bytes(schedule, id, graph, rank).all;
    if (matrix.storage.factored) bytes += scale_bytes(schedule, id, graph, rank);
    if (matrix.cut() && !matrix.structure) bytes += own_target_bytes(schedule, id, graph, rank);
    return bytes;
}

MemoryPlan plan_memory(const Schedule& schedule, const GraphStats& graph, int rank) {
    MemoryPlan plan;
    BufferBytes bytes{tensor_bytes(schedule, graph, rank), {}};
    for (const Step& step : schedule.steps) bytes.staging.push_back(staged_bytes(schedule, step, graph, rank));
    Arena(schedule).place(bytes, plan);
    add_sparse_bytes(schedule, graph, rank, plan);
    plan.adjacency_bytes += edge_order_bytes(schedule, all_reordered_edges(schedule), graph, rank);
    add_load_and_peak(schedule, graph, rank, plan);
    return plan;
}

// Matrices are cut one after the other: its blocks one by one, then its scales, beside the requests so far.
std::int64_t cut_bytes(const Schedule& schedule, const GraphStats& graph, int rank) {
    std::int64_t requests = 0;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < schedule.tensors.size(); ++i) {
        const auto id = static_cast<TensorId>(i);
        const Tensor& matrix = schedule.tensors[i];
        if (matrix.role != Role::adjacency) continue;
        requests += request_bytes(schedule, id, graph, rank);
        if (matrix.cut() && !matrix.structure) requests += own_target_bytes(schedule, id, graph, rank);
        most = std::max(most, requests + stored_block_bytes(schedule, id, graph, rank).largest);
        if (matrix.storage.factored) most = std::max(most, requests + largest_scales(schedule, id, graph, rank));
    }
    // Orders of edges are found before all that, from the pattern of one root's pieces at a time, which the host reads.
    for (const auto& [from, to] : all_reordered_edges(schedule)) {
        const Tensor& matrix = tensor_of(schedule, to);
        const Range rows = block_of(schedule, to, rank).rows;
        Tensor pattern = matrix;
        pattern.storage.factored = true;
        std::map<int, std::int64_t> of_root;
        for (const Piece& piece : pieces_of(schedule.grid, matrix, rank)) {
            const std::int64_t nonzeros = graph.block_nonzeros(matrix.matrix(), rows, piece.columns);
            of_root[piece.dense_root] +=
                sparse_bytes(Blocking{}, pattern, rows, piece.columns, nonzeros) + 4 * nonzeros;
        }
        for (const auto& [root, bytes] : of_root) most = std::max(most, bytes);
    }
    return most;
}

std::vector<TensorSize> largest_tensors(const Schedule& schedule, const GraphStats& graph, int rank, int count) {
    std::vector<TensorSize> sizes;
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        const Tensor& tensor = schedule.tensors[id];
        const auto tensor_id = static_cast<TensorId>(id);
        sizes.push_back({tensor.name, tensor.role == Role::adjacency
                                          ? adjacency_block_bytes(schedule, tensor_id, graph, rank)
                                          : bytes_of(tensor.dtype, elements_of(schedule, tensor_id, graph, rank))});
    }
    std::stable_sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    sizes.resize(std::min(sizes.size(), static_cast<std::size_t>(count)));
    return sizes;
}

}  // namespace gnnplan
