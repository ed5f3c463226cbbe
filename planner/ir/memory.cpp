// Reading guide: a rank's buffers are the residents, one after the other, then what lives for a while only: transients,
// staging buffers of steps, features that only setup reads, products cached from setup on. Those are packed so that two
// share space only when their lifetimes do not overlap: largest first, each at the lowest offset that is free during
// its whole lifetime (greedy by size; Pisarchyk & Lee 2020).
#include <gnnplan/ir/classes.hpp>
#include <gnnplan/ir/memory.hpp>
#include <gnnplan/ir/pieces.hpp>
#include <gnnplan/ir/traffic.hpp>

#include <algorithm>
#include <numeric>

namespace gnnplan {
namespace {

// A buffer to place: bytes, alive from step position `first` to `last`, and where its offset goes.
struct Buffer {
    std::int64_t bytes = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::int64_t* offset = nullptr;

    bool overlaps(const Buffer& other) const { return first <= other.last && other.first <= last; }
};

// Steps in the order in which time passes: setup, epoch, evaluation.
std::vector<std::size_t> timeline(const Schedule& schedule) {
    std::vector<std::size_t> order(schedule.steps.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return schedule.steps[a].phase < schedule.steps[b].phase; });
    return order;
}

// Whether a resident can make room once setup is over.
bool ends_with_setup(const Schedule& schedule, TensorId id) {
    if (tensor_of(schedule, id).role != Role::features) return false;
    bool in_setup = false;
    for (const Step& step : schedule.steps) {
        const Operands operands = operands_of(step.operation);
        if (std::find(operands.reads.begin(), operands.reads.end(), id) == operands.reads.end()) continue;
        if (step.phase != Phase::setup) return false;
        in_setup = true;
    }
    return in_setup;
}

bool stays(const Schedule& schedule, std::size_t id) {
    return is_resident(schedule.tensors[id].role) && !ends_with_setup(schedule, static_cast<TensorId>(id));
}

// Tensors with a first and a last use, those only that take part in a step.
std::vector<Buffer> tensor_lifetimes(const Schedule& schedule, int rank, MemoryPlan& plan,
                                     const std::vector<std::size_t>& order) {
    std::vector<Buffer> tensors(schedule.tensors.size());
    for (std::size_t position = 0; position < order.size(); ++position) {
        const Operands operands = operands_of(schedule.steps[order[position]].operation);
        for (const auto* ids : {&operands.reads, &operands.writes}) {
            for (const TensorId id : *ids) {
                Buffer& buffer = tensors[static_cast<std::size_t>(id)];
                if (buffer.offset == nullptr) {
                    buffer = {block_bytes(schedule, id, rank), position, position,
                              &plan.tensor_offset[static_cast<std::size_t>(id)]};
                }
                buffer.last = position;
            }
        }
    }
    for (std::size_t id = 0; id < tensors.size(); ++id) {
        if (schedule.tensors[id].role == Role::features) tensors[id].first = 0;  // filled before setup
        if (schedule.tensors[id].role == Role::cached) tensors[id].last = order.size();
    }
    return tensors;
}

std::vector<Buffer> temporary_buffers(const Schedule& schedule, int rank, MemoryPlan& plan) {
    const auto order = timeline(schedule);
    const std::vector<Buffer> tensors = tensor_lifetimes(schedule, rank, plan, order);
    std::vector<Buffer> buffers;
    for (std::size_t position = 0; position < order.size(); ++position) {
        const std::size_t step = order[position];
        if (plan.staging_bytes[step] > 0) {
            buffers.push_back({plan.staging_bytes[step], position, position, &plan.staging_offset[step]});
        }
    }
    for (std::size_t id = 0; id < tensors.size(); ++id) {
        if (!stays(schedule, id) && tensors[id].offset != nullptr) buffers.push_back(tensors[id]);
    }
    return buffers;
}

// Places `buffers` from `base` on and returns the end of the last one.
std::int64_t pack(std::vector<Buffer> buffers, std::int64_t base) {
    std::stable_sort(buffers.begin(), buffers.end(),
                     [](const Buffer& a, const Buffer& b) { return a.bytes > b.bytes; });
    std::int64_t end = base;
    std::vector<Buffer> placed;  // by offset
    for (const Buffer& buffer : buffers) {
        const std::int64_t bytes = aligned(buffer.bytes);
        std::int64_t offset = base;
        for (const Buffer& other : placed) {
            if (!buffer.overlaps(other)) continue;
            if (offset + bytes <= *other.offset) break;
            offset = std::max(offset, *other.offset + aligned(other.bytes));
        }
        *buffer.offset = offset;
        end = std::max(end, offset + bytes);
        const auto after = std::upper_bound(placed.begin(), placed.end(), offset,
                                            [](std::int64_t o, const Buffer& other) { return o < *other.offset; });
        placed.insert(after, buffer);
    }
    return end;
}

// Whether products with the matrix exchange needed rows: its nonzeros are then stored by the numbers of those rows.
bool exchanges_needed_rows(const Schedule& schedule, TensorId matrix) {
    const TensorId stored = tensor_of(schedule, matrix).structure.value_or(matrix);
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [&](const Step& step) { return requested_rows(step.operation) == stored; });
}

// A float for each row, and for each row of the dense operand that a piece meets.
std::int64_t scale_bytes(const Schedule& schedule, TensorId id, const GraphStats& graph, int rank) {
    const Tensor& matrix = tensor_of(schedule, id);
    const Range rows = block_of(schedule, id, rank).rows;
    const bool needed_rows = exchanges_needed_rows(schedule, id);
    std::int64_t count = rows.size();
    for (const Piece& piece : pieces_of(schedule.grid, matrix, rank)) {
        count += needed_rows && piece.dense_root != rank
                     ? graph.distinct_columns(matrix.transposed, rows, piece.columns)
                     : piece.columns.size();
    }
    return 4 * count;
}

void add_sparse_bytes(const Schedule& schedule, const GraphStats& graph, int rank, MemoryPlan& plan) {
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        if (schedule.tensors[id].role != Role::adjacency) continue;
        plan.adjacency_bytes += adjacency_block_bytes(schedule, static_cast<TensorId>(id), graph, rank);
    }
    for (const Step& step : schedule.steps) {
        if (!requested_rows(step.operation)) continue;
        const RankTraffic indices = traffic_of(schedule, step, graph, rank);
        plan.request_bytes += indices.sent_bytes;
        plan.served_bytes += indices.received_bytes;
    }
}

}  // namespace

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
    const Range rows = block_of(schedule, id, rank).rows;
    std::int64_t bytes = matrix.storage.factored ? scale_bytes(schedule, id, graph, rank) : 0;
    if (matrix.structure) return bytes;
    for (const Piece& piece : pieces_of(schedule.grid, matrix, rank)) {
        if (piece.matrix_root != rank) continue;
        const std::int64_t nonzeros = graph.block_nonzeros(matrix.transposed, rows, piece.columns);
        bytes += sparse_bytes(matrix, rows, piece.columns, nonzeros);
    }
    return bytes;
}

std::int64_t load_bytes(const GraphStats& graph) {
    const std::int64_t directions = graph.symmetric() ? 1 : 2;
    return directions * (8 * (graph.vertices() + 1) + 4 * graph.nonzeros()) + 16 * graph.vertices();
}

std::int64_t order_bytes(const GraphStats& graph, const Numbering& numbering) {
    return numbering.identity() ? 0 : 8 * graph.vertices();
}

MemoryPlan plan_memory(const Schedule& schedule, const GraphStats& graph, int rank) {
    MemoryPlan plan;
    plan.tensor_offset.assign(schedule.tensors.size(), -1);
    plan.staging_offset.assign(schedule.steps.size(), 0);
    plan.staging_bytes.assign(schedule.steps.size(), 0);
    for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
        const Staging staging = staging_of(schedule, schedule.steps[step], graph, rank);
        plan.staging_bytes[step] = staging.send_bytes + staging.receive_bytes;
    }
    std::int64_t residents = 0;
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        if (schedule.tensors[id].role == Role::adjacency || !stays(schedule, id)) continue;
        plan.tensor_offset[id] = residents;
        residents += aligned(block_bytes(schedule, static_cast<TensorId>(id), rank));
    }
    plan.arena_bytes = pack(temporary_buffers(schedule, rank, plan), residents);
    add_sparse_bytes(schedule, graph, rank, plan);
    plan.load_bytes = load_bytes(graph);
    plan.order_bytes = order_bytes(graph, schedule.numbering);
    plan.peak_bytes =
        plan.adjacency_bytes + plan.request_bytes +
        std::max(plan.load_bytes + plan.order_bytes, plan.arena_bytes + std::max(plan.order_bytes, plan.served_bytes));
    plan.device_peak_bytes = plan.adjacency_bytes + plan.request_bytes + plan.arena_bytes + plan.served_bytes;
    return plan;
}

std::int64_t peak_bytes_per_rank(const Schedule& schedule, const GraphStats& graph, bool accelerators) {
    std::int64_t peak = 0;
    const auto add = [&](int rank) {
        const MemoryPlan plan = plan_memory(schedule, graph, rank);
        peak = std::max(peak, accelerators ? plan.device_peak_bytes : plan.peak_bytes);
    };
    if (graph.exact()) {
        for (int rank = 0; rank < schedule.grid.size(); ++rank) add(rank);
    } else {
        for (const int rank : rank_classes(schedule).representative) add(rank);
    }
    return peak;
}

std::vector<TensorSize> largest_tensors(const Schedule& schedule, const GraphStats& graph, int rank, int count) {
    std::vector<TensorSize> sizes;
    for (std::size_t id = 0; id < schedule.tensors.size(); ++id) {
        const Tensor& tensor = schedule.tensors[id];
        sizes.push_back({tensor.name, tensor.role == Role::adjacency
                                          ? adjacency_block_bytes(schedule, static_cast<TensorId>(id), graph, rank)
                                          : block_bytes(schedule, static_cast<TensorId>(id), rank)});
    }
    std::stable_sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    sizes.resize(std::min(sizes.size(), static_cast<std::size_t>(count)));
    return sizes;
}

}  // namespace gnnplan
